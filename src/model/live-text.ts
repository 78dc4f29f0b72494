import * as z from "zod";
import { milliseconds, optional, record, uuid } from "./record.ts";

/** `text` and `thinking`: output of the model. `output`: output of a running tool call; its `id` is the `tool_call_id`. */
export const liveKind = z.enum(["text", "thinking", "output"]);
export type LiveKind = z.infer<typeof liveKind>;

const common = {
  /** The agent's own id: unique in the session. */
  id: z.string(),
  kind: liveKind,
  /** When it began. */
  at: milliseconds,
  /** The transcript part that shows it once it is recorded, if the agent's records contain its id. */
  part_id: optional(uuid),
};

/** What an agent in a terminal has written so far of something that its session file does not have yet. */
export const livePart = record({ ...common, text: z.string() });
export type LivePart = z.infer<typeof livePart>;

/** A change of a session's live parts. `reset`: `parts` replaces all of them. Otherwise each entry appends to its part. */
export const liveChange = record({
  reset: optional(z.literal(true)),
  parts: z.array(
    record({
      ...common,
      /** Length of the part's text before this entry, in UTF-16 code units; 0: the part is new or begins again. */
      offset: z.number(),
      text: z.string(),
    }),
  ),
});
export type LiveChange = z.infer<typeof liveChange>;

/** Applies a change. Its cost depends on the number of live parts, not on their length. Unchanged parts keep their identity. */
export function changeLive(before: readonly LivePart[], change: LiveChange): readonly LivePart[] {
  const parts = change.reset === true ? [] : [...before];
  for (const { offset, ...entry } of change.parts) {
    const at = parts.findIndex(({ id }) => id === entry.id);
    const part = parts[at];
    if (part === undefined) {
      if (offset === 0) parts.push(entry);
    } else if (offset <= part.text.length) {
      const known = offset === part.text.length ? part.text : part.text.slice(0, offset);
      parts[at] = { ...part, text: known + entry.text };
    }
  }
  return parts;
}

/** Both changes as one. */
export function joinLiveChanges(first: LiveChange | undefined, second: LiveChange): LiveChange {
  if (first === undefined || second.reset === true) return second;
  return { ...first, parts: [...first.parts, ...second.parts] };
}
