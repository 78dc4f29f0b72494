/** Parameters that may be absent. */
export type Optional<Name extends string, Value = string> = { [Key in Name]?: Value | undefined };

/** `: ` and a text, if there is one. */
export const after = (text: string | undefined): string => (text === undefined ? "" : `: ${text}`);

/** The known facts as a list; `undefined`: none is known. */
export function joined(facts: readonly (string | undefined)[]): string | undefined {
  const known = facts.filter((fact) => fact !== undefined);
  return known.length === 0 ? undefined : known.join(", ");
}

export const tokens = (count: number): string => `${count.toLocaleString("en-US")} tokens`;

/** `: 1,234 tokens before`, if they are known. */
export const tokensBefore = (count: number | undefined): string =>
  after(count === undefined ? undefined : `${tokens(count)} before`);
