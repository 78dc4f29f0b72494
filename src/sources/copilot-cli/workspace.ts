import type { SessionPatch } from "../../model/session.ts";

/**
 * Reads `workspace.yaml` next to a session's events: its name, folder and branch. Only single lines `key: value`, as Copilot
 * writes them, are read; other values are ignored.
 */
export function readWorkspace(text: string): SessionPatch {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, key, written] = /^([a-z_]+):[ \t]+(\S.*?)[ \t\r]*$/.exec(line) ?? [];
    const value = written === undefined ? undefined : scalarOf(written);
    if (key !== undefined && value !== undefined && value.trim() !== "") values.set(key, value);
  }
  const title = values.get("name") ?? values.get("summary");
  const cwd = values.get("cwd");
  const git_branch = values.get("branch");
  return {
    ...(title !== undefined && { title }),
    ...(cwd !== undefined && { cwd }),
    ...(git_branch !== undefined && { git_branch }),
  };
}

function scalarOf(written: string): string | undefined {
  if (written.startsWith("'"))
    return /^'(?:[^']|'')*'$/.test(written) ? written.slice(1, -1).replaceAll("''", "'") : undefined;
  if (written.startsWith('"')) {
    try {
      const value: unknown = JSON.parse(written);
      return typeof value === "string" ? value : undefined;
    } catch {
      return undefined;
    }
  }
  // Multi-line text, a list, an alias, or null.
  return /^[|>[{&*!]|^(?:null|~)$/.test(written) ? undefined : written;
}
