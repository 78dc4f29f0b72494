import { textPattern } from "../../../model/text-pattern.ts";
import { positionOf } from "../../../model/transcript/accumulate.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import type { SearchReply } from "../../../protocol.ts";
import type { Api } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { terminalText } from "../../code/ansi.ts";
import { failureText } from "../../text/failure-text.ts";
import type { Outputs } from "../../transcript/host.ts";

const TYPING_MS = 150;
/** Delay between the growth of a session and the next search, in milliseconds. */
const GROWN_MS = 1_000;

/** A part in which a text occurs. */
export type Hit = SearchReply["hits"][number];

/** A reply, and the number of opened outputs of which only a piece was searched. */
export interface Found extends SearchReply {
  readonly partlySearched: number;
}

interface SearchOptions {
  api: Pick<Api, "search">;
  session: OpenSession;
  text: string;
  /** Start the first search immediately, because the user is not typing. */
  isReady: boolean;
  /** Complete outputs that the user has opened. They are searched here, because the daemon does not search their files. */
  openedOutputs(): Outputs["opened"];
  onFound(found: Found, isFirst: boolean): void;
  onFailure(message: string): void;
}

/** A running search of a session, repeated whenever the session grows. */
interface SessionSearch {
  /** Searches again after a short delay. */
  searchAgain(): void;
  end(): void;
}

/** Searches the whole session until `end` is called. */
export function searchSession(options: SearchOptions): SessionSearch {
  const { api, session, text, isReady, openedOutputs, onFound, onFailure } = options;
  const abort = new AbortController();
  let isFirst = true;
  let searched: Transcript | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const search = async (): Promise<void> => {
    searched = session.state.getState().transcript;
    const found = await api.search(session.id, text, abort.signal);
    if (abort.signal.aborted) return;
    timer = undefined;
    if (hasGrown(searched, session.state.getState().transcript)) timer = setTimeout(search, GROWN_MS);
    if (!found.ok) {
      onFailure(failureText(found.failure));
      return;
    }
    const wasFirst = isFirst;
    isFirst = false;
    onFound(withOpened(found.value, openedOutputs(), text, searched), wasFirst);
  };
  timer = setTimeout(search, isReady ? 0 : TYPING_MS);
  const unsubscribe = session.state.subscribe(({ transcript }) => {
    if (timer === undefined && hasGrown(searched, transcript)) timer = setTimeout(search, GROWN_MS);
  });
  return {
    searchAgain() {
      clearTimeout(timer);
      timer = setTimeout(search, TYPING_MS);
    },
    end() {
      unsubscribe();
      clearTimeout(timer);
      abort.abort();
    },
  };
}

/** Adds hits in opened outputs, and removes hits in the truncated texts that the outputs replace. */
function withOpened(
  reply: SearchReply,
  opened: Outputs["opened"],
  text: string,
  transcript: Transcript | undefined,
): Found {
  const pattern = textPattern(text, "iu");
  const matchingOutputs = new Set(
    [...opened].flatMap(([part_id, piece]) => (pattern.test(terminalText(piece.text)) ? [part_id] : [])),
  );
  const shown = reply.hits.filter(({ part_id }) => !opened.has(part_id) || matchingOutputs.has(part_id));
  const more = [...matchingOutputs].flatMap((part_id) => {
    if (shown.some((hit) => hit.part_id === part_id)) return [];
    const index = transcript && positionOf(transcript, part_id);
    return index === undefined ? [] : { index, part_id, excerpt: "" };
  });
  const hits = [...shown, ...more].sort((one, other) => one.index - other.index);
  return {
    total: reply.total - reply.hits.length + hits.length,
    in_files: Math.max(0, reply.in_files - opened.size),
    partlySearched: [...opened.values()].filter(({ starts, next }) => starts.length > 1 || next !== undefined)
      .length,
    hits,
  };
}

/** Whether the session has grown between two transcripts. Loading existing parts does not count. */
function hasGrown(before: Transcript | undefined, now: Transcript | undefined): boolean {
  if (before === now || before === undefined || now === undefined) return false;
  const { length } = now.parts;
  return length !== before.parts.length || now.parts.at(length - 1) !== before.parts.at(length - 1);
}
