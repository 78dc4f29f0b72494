import { useRef } from "react";
import { useStore } from "zustand";
import type { LivePart } from "../../../model/live-text.ts";
import { positionOf } from "../../../model/transcript/accumulate.ts";
import { recordGrowth } from "../../../model/transcript/growth.ts";
import type { TranscriptPart, TranscriptPartOf } from "../../../model/transcript/transcript.ts";
import type { OpenSession, OpenSessionState } from "../../app/open-session.ts";

export type LiveTextPart = TranscriptPartOf<"text"> | TranscriptPartOf<"thinking">;

/** How the transcript shows what the agent is writing and has not recorded yet. */
export interface LiveText {
  /** Texts and thoughts shown below the last recorded part. */
  readonly tail: readonly LiveTextPart[];
  /** Returns the part with its live text: a running call with its output so far, an empty text with its content so far. */
  shownAs(part: TranscriptPart | undefined): TranscriptPart | undefined;
}

interface Shown {
  readonly live: LivePart;
  /** The part of the transcript that shows the live part. `undefined`: none. */
  readonly of: TranscriptPart | undefined;
  readonly part: TranscriptPart;
}

/** The ids of the parts of the transcript that show live text. */
export function liveRows({ live, transcript }: OpenSessionState): ReadonlySet<string> {
  if (live.length === 0 || transcript === undefined) return NO_ROWS;
  return new Set(
    live.flatMap(({ part_id, text }) =>
      part_id !== undefined && text.trim() !== "" && positionOf(transcript, part_id) !== undefined
        ? [part_id]
        : [],
    ),
  );
}
const NO_ROWS: ReadonlySet<string> = new Set();

/** The live parts of a session. Unchanged ones keep their identity, so that only growing ones re-render. */
export function useLiveText(session: OpenSession): LiveText {
  const live = useStore(session.state, (state) => state.live);
  const transcript = useStore(session.state, (state) => state.transcript);
  const shownParts = useRef(new Map<string, Shown>());

  const show = (part: LivePart, of: TranscriptPart | undefined): TranscriptPart => {
    const before = shownParts.current.get(part.id);
    if (before?.live === part && before.of === of) return before.part;
    const shown = shownPart(part, of, session.id);
    if (before !== undefined && before.of === of && part.text.startsWith(before.live.text))
      recordGrowth(before.part, shown, part.text.slice(before.live.text.length), part.text.length);
    shownParts.current.set(part.id, { live: part, of, part: shown });
    return shown;
  };
  if (live.length === 0 && shownParts.current.size > 0) shownParts.current.clear();

  const isRecorded = ({ part_id }: LivePart): boolean =>
    part_id !== undefined && transcript !== undefined && positionOf(transcript, part_id) !== undefined;
  const tail = live.flatMap((part) => {
    if (part.kind === "output" || part.text.trim() === "" || isRecorded(part)) return [];
    const shown = show(part, undefined);
    return shown.type === "text" || shown.type === "thinking" ? [shown] : [];
  });

  return {
    tail,
    shownAs(part) {
      if (live.length === 0 || part === undefined) return part;
      if (part.type === "tool_call") {
        if (part.result_index !== undefined) return part;
        const output = live.find(({ kind, id }) => kind === "output" && id === part.tool_call_id);
        return output === undefined ? part : show(output, part);
      }
      if (part.type !== "text" && part.type !== "thinking") return part;
      const grown = live.find(({ part_id }) => part_id === part.id);
      return grown === undefined ? part : show(grown, part);
    },
  };
}

function shownPart(
  { id, kind, at, text }: LivePart,
  of: TranscriptPart | undefined,
  session_id: string,
): TranscriptPart {
  if (of?.type === "tool_call") return { ...of, progress: text };
  if (of?.type === "text") return { ...of, text, open: true };
  if (of?.type === "thinking") return { ...of, thinking: text, open: true };
  // Prefixed, because the id comes from the agent and could equal the id of a part.
  const common = { id: `live-${id}`, message_id: `live-${id}`, session_id, at, open: true };
  return kind === "thinking"
    ? { ...common, type: "thinking", thinking: text }
    : { ...common, type: "text", text };
}
