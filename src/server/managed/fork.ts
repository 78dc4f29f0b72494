import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Frame } from "../../model/frames/frame.ts";
import type { HistoryEvent } from "../../model/messages/history.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { partId, uuidFrom } from "../../model/uuid.ts";

/**
 * The history before a prompt that begins a turn, named by the id of its part or of its message; `undefined`: there is none.
 * Message and part ids stay, for they are unique within a session; so do the links to runs, which stay runs of the session
 * that started them. That the history is a run itself is left out: its copy is a session of its own.
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
 * Gives a fork the files that the history it takes over names, where `keptPath` finds them. Links, which outlive the other
 * session's and cost no room; copies, where the disk has no links.
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

/** What takes a prompt and all after it out of the agent's context. Nothing: it is out of it already. */
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
  const reason = "rewound to an earlier prompt";
  const count = dropped.length === 1 ? "the turn above is" : `${dropped.length} turns above are`;
  return [
    ...dropped.map((turn): Frame => ({ type: "turn.retract", session_id, at, turn_id: turn.id, reason })),
    {
      type: "marker",
      session_id,
      at,
      part_id: uuidFrom(message_id, `rewind ${at}`),
      kind: "rewind",
      title: `Rewound to an earlier prompt: ${count} out of the agent's context`,
      data: { message_id },
    },
  ];
}
