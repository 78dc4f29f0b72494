import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Frame } from "../../model/frames/frame.ts";
import type { HistoryEvent } from "../../model/messages/history.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { textFields } from "../../model/text/display-text.ts";
import { retractionReason } from "../../model/text/retraction-reasons.ts";
import { titleFields } from "../../model/text/titles.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";

/**
 * The history before a prompt that begins a turn. The prompt is given by the id of its part or of its message; `undefined`: there
 * is no such prompt. Message and part ids are kept, because they are unique within a session only. Links to runs are kept: the
 * runs still belong to the original session. The history's own link to a parent is dropped: the copy is not a run.
 */
export function historyBefore(
  history: readonly HistoryEvent[],
  before: string,
): { events: HistoryEvent[]; message_id: string } | undefined {
  const index = history.findIndex(
    (event) =>
      "role" in event &&
      event.role === "user" &&
      !("queued" in event && event.queued === true) &&
      (event.id === before || (event.part_id ?? partId(event.id, 0)) === before),
  );
  const prompt = history[index];
  if (!prompt || !("role" in prompt)) return undefined;
  const opened = history[index - 1];
  const end = opened && "type" in opened && opened.type === "turn_start" ? index - 1 : index;
  return {
    message_id: prompt.id,
    events: history.slice(0, end).map((event) => {
      if (!("type" in event) || event.type !== "session_update") return event;
      const { parent: _, run: __, forked_from: ___, ...patch } = event.patch;
      return { ...event, patch };
    }),
  };
}

/**
 * Gives a fork the files that its history refers to, at the paths where `keptPath` finds them. Uses hard links, which survive the
 * deletion of the original and take no space, or copies if the file system has no links.
 */
export function inheritFiles(source: string, fork: string): void {
  if (!existsSync(source)) return;
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const from = join(entry.parentPath, entry.name);
    const isOwn = entry.parentPath === source;
    const to = join(fork, isOwn ? basename(source) : "", relative(source, from));
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    try {
      linkSync(from, to);
    } catch {
      copyFileSync(from, to);
    }
  }
}

/** The frames that remove a prompt and everything after it from the agent's context. None if it was removed already. */
export function rewindFrames(transcript: Transcript, message_id: string, at: number): Frame[] {
  const { session_id } = transcript;
  const turns = [...transcript.turns].filter((turn) => turn !== undefined);
  const from = turns.findIndex(
    ({ prompt_index }) =>
      prompt_index !== undefined && transcript.parts.at(prompt_index)?.message_id === message_id,
  );
  const first = turns[from];
  if (!first || first.retracted !== undefined) return [];
  const dropped = turns.slice(from).filter(({ retracted }) => retracted === undefined);
  const reason = textFields("reason", retractionReason("retracted_by_rewind_to_prompt"));
  return [
    ...dropped.map((turn): Frame => ({ type: "turn.retract", session_id, at, turn_id: turn.id, ...reason })),
    {
      type: "marker",
      session_id,
      at,
      part_id: uuidFrom(message_id, `rewind ${at}`),
      kind: "rewind",
      ...titleFields(agentTitle("context_rewound", { turns: dropped.length })),
      data: { message_id },
    },
  ];
}
