import type { SessionPatch } from "../../model/session.ts";

/**
 * What `workspace.yaml` beside a session's events says: its name, folder and branch. Read are single lines `key: value`, as
 * Copilot writes them; a value that is written in another way is left out.
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
  // A text over several lines, a list, an alias, nothing.
  return /^[|>[{&*!]|^(?:null|~)$/.test(written) ? undefined : written;
}
