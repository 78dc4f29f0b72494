import { legalToolName } from "./request.ts";

/**
 * The offered tool that a call refers to. Models decorate names (`functions.read`, `default_api.read`, `tool_read_x1`), and some
 * tools are offered under shortened names. An unknown name is unchanged.
 */
export function offeredToolName(called: string, offered: readonly string[]): string {
  const bare = called.replace(/^[A-Za-z_]+[.:/]/, "");
  const plain = bare.replace(/^tool_/, "").replace(/_x\d+$/, "");
  for (const wanted of [called, bare, plain]) {
    if (offered.includes(wanted)) return wanted;
    const matches = offered.filter((name) => isSentAs(name, wanted));
    if (matches.length === 1 && matches[0] !== undefined) return matches[0];
  }
  return called;
}

function isSentAs(name: string, wanted: string): boolean {
  const legal = legalToolName(name);
  // Names with a leading digit are offered to Gemini with a leading underscore.
  return legal === wanted || `_${legal}`.slice(0, 64) === wanted;
}
