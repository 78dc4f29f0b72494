import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import type { Line, Session } from "./session-types.ts";

/** Reads memory files that are added to the context: `memories` of an attachment or of a notice. */
export function readMemories(session: Session, line: Line, { memories }: JsonObject): Disposition {
  const files = asArray(memories)
    .map(asObject)
    .filter((file) => file !== undefined);
  if (files.length === 0) return { kind: "hidden", rule: "no memories" };
  const names = files.flatMap((file) => asText(file.path) ?? []).join(", ");
  const text = files.flatMap((file) => asText(file.content) ?? []).join("\n\n");
  const title = claudeCodeTitle("memory_file", { name: names === "" ? undefined : firstLine(names) });
  session.marker(line, "context", title, text, text === "" ? memories : undefined);
  return { kind: "shown" };
}
