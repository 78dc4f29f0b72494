/** Number of characters at the start of a script in which its calls are searched. */
const SEARCH_LIMIT = 20_000;
/** Maximum number of calls. */
const MAX_CALLS = 20;
const LITERAL = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/sy;

/**
 * A tool call in a script of Codex's code mode. `input`: text for a running command (`typed` is absent if the script only waits
 * for the command).
 */
export type ScriptCall =
  | { kind: "command"; command: string }
  | { kind: "input"; terminal: string; typed?: string }
  | { kind: "patch"; files: string[] }
  | { kind: "other"; name: string };

/**
 * The tools that a script of Codex's code mode calls. Nearly all scripts wrap one command in one line. A heuristic, used only for
 * closed lines and labels.
 */
export function scriptCalls(whole: string): ScriptCall[] {
  const script = whole.slice(0, SEARCH_LIMIT);
  const calls = [...script.matchAll(/\btools\.(\w+)\(/g)].slice(0, MAX_CALLS);
  if (calls.length === 0) return [];
  // A patch is usually a constant above its call.
  const patched = script.matchAll(/\*\*\* (?:Update|Add|Delete) File: ([^\n\\"'`]+)/g);
  const files = [...new Set([...patched].map(([, file = ""]) => file))];
  return calls.map(({ 1: name = "", index }, at) =>
    callOf(name, script.slice(index, calls[at + 1]?.index), files),
  );
}

function callOf(name: string, written: string, files: string[]): ScriptCall {
  switch (name) {
    case "exec_command": {
      const command = literalOf(written, "cmd");
      return command === undefined ? { kind: "other", name } : { kind: "command", command };
    }
    case "write_stdin": {
      const terminal = /\bsession_id["']?\s*:\s*["']?(\d+)/.exec(written)?.[1];
      const typed = literalOf(written, "chars") || undefined;
      if (terminal === undefined) return { kind: "other", name };
      return { kind: "input", terminal, ...(typed !== undefined && { typed }) };
    }
    case "apply_patch":
      return files.length === 0 ? { kind: "other", name } : { kind: "patch", files };
    default:
      return { kind: "other", name };
  }
}

/** The string value of a member in an object literal, if any. */
function literalOf(written: string, name: string): string | undefined {
  const member = new RegExp(`\\b${name}["']?\\s*:\\s*`).exec(written);
  if (member === null) return undefined;
  LITERAL.lastIndex = member.index + member[0].length;
  const literal = LITERAL.exec(written)?.[0];
  return literal
    ?.slice(1, -1)
    .replace(/\\(.)/gs, (_, sign: string) => (sign === "n" ? "\n" : sign === "t" ? "\t" : sign));
}
