/** Recorded values in a text, by name. */
export type TextParams = Readonly<Record<string, string | number>>;

/**
 * English texts by code. A text with parameters is a function of them. Codes and parameters are stored in histories: to change
 * the parameters of a text, add a new code.
 */
export type Catalog = Readonly<Record<string, string | ((params: never) => string)>>;

/** The same texts in another language. */
export type Translation<Texts extends Catalog> = {
  readonly [Code in keyof Texts]: Texts[Code] extends string ? string : Texts[Code];
};

/** The parameters of a text: none, or one object. */
type ParamsOf<Entry> = Entry extends (params: infer Params) => string ? [params: Params] : [];

/** A text of Verbatim in English, with the code and parameters that identify it. */
export interface CodedText {
  text: string;
  code: string;
  params?: TextParams;
}

/** Creates a function that returns the texts of a catalog with their codes. Parameters that are `undefined` are not recorded. */
export function codedTexts<Texts extends Catalog>(texts: Texts) {
  return <Code extends keyof Texts & string>(code: Code, ...[given]: ParamsOf<Texts[Code]>): CodedText => {
    const text = textOf(texts, code, given) ?? code;
    if (given === undefined) return { text, code };
    const values: Readonly<Record<string, unknown>> = given;
    const params: Record<string, string | number> = {};
    // A loop, because some agents have a title in every second record.
    for (const name in values) {
      const value = values[name];
      if (typeof value === "string") params[name] = shortened(value);
      else if (typeof value === "number") params[name] = value;
    }
    return { text, code, params };
  };
}

/** Maximum length of a recorded parameter, in UTF-16 code units. The text contains all of it. */
const PARAM_LIMIT = 400;

const shortened = (value: string): string =>
  value.length > PARAM_LIMIT ? `${value.slice(0, PARAM_LIMIT - 1).toWellFormed()}…` : value;

/** Whether parameters were recorded as a whole. */
export const areComplete = (params: TextParams = {}): boolean =>
  Object.values(params).every(
    (value) => typeof value === "number" || value.length < PARAM_LIMIT - 1 || !value.endsWith("…"),
  );

/** A text of a catalog; `undefined`: it has no such code. `params`: those stored with the code. */
export function textOf(texts: Catalog, code: string, params: unknown = {}): string | undefined {
  const entry = Object.hasOwn(texts, code) ? texts[code] : undefined;
  // Each text was stored with its own parameters.
  return typeof entry === "function" ? entry(params as never) : entry;
}

/** The texts of a list. Each line is a code, or a code, a space and the parameter `name`. */
export function textsOf(texts: Catalog, list: string): string[] {
  return list.split("\n").map((line) => {
    const [code = "", ...words] = line.split(" ");
    return textOf(texts, code, words.length === 0 ? {} : { name: words.join(" ") }) ?? line;
  });
}
