import type { Note } from "../../model/note.ts";
import type { Answer, RequestOutcome } from "../../model/request.ts";
import type { SessionSummary } from "../../model/session.ts";
import type { Source, TranscriptPart, Turn } from "../../model/transcript/transcript.ts";

/** The record that a part was made from, as the raw view shows it. */
export interface RawRecord {
  file: string;
  line: number;
  byte: number;
  length: number;
  text: string;
  truncated?: number;
  archived: boolean;
  /** Where it stands in the agent's store, when that is no line of `file`. */
  place?: Source;
}

/** The outcome of a request. The first answer counts. */
export interface SettledRequest {
  outcome: RequestOutcome;
  answer?: Answer;
}

/** The choices and text of an answer that was not sent yet. */
export interface AnswerDraft {
  readonly option_ids: readonly string[];
  readonly text: string;
}

/** The bytes of an image or file, once the browser has them. */
export interface Attachment {
  /** Of a blob. */
  readonly address: string;
  readonly byte_size: number;
  /** As an image's header declares them; absent: nothing declares any. */
  readonly pixels?: number;
}

/** A piece of a whole output, from `starts.at(-1)` in its file; absent `next`: to the end. */
export interface OpenedOutput {
  readonly text: string;
  /** Where it and the pieces on the way to it begin. */
  readonly starts: readonly number[];
  readonly next?: number;
}

export interface Outputs {
  /** By result id, so that a row keeps its state when it is scrolled out of view and back. */
  readonly opened: ReadonlyMap<string, OpenedOutput>;
  /** Rejects with a sentence for the user. `byte_size`: of the whole output, if known. */
  open(part_id: string, starts: readonly number[], byte_size: number | undefined): Promise<void>;
  close(part_id: string): void;
}

/** Notes on the parts, and those being written: by a note's id, or by `newNoteKey` of a part. */
export interface NotesHost {
  /** The notes on any of these parts, oldest first; live. A hook. */
  useNotes(part_ids: readonly string[]): readonly Note[];
  /** The text being written; `undefined`: nothing is. Live. A hook. */
  useDraft(key: string): string | undefined;
  /** `undefined` ends the writing. */
  setDraft(key: string, text: string | undefined): void;
  /** Opens an editor, which takes the keyboard once. */
  begin(key: string, text: string): void;
  /** Whether an editor that appears is to take the keyboard; once after `begin`. */
  takesFocus(key: string): boolean;
  /** Each rejects with a sentence for the reader. `part_id` absent: on the session. */
  add(part_id: string | undefined, text: string): Promise<void>;
  change(note: Note, text: string): Promise<void>;
  remove(note: Note): Promise<void>;
}
/** The key of a new note's text. */
export const newNoteKey = (part_id: string | undefined): string => `new:${part_id ?? ""}`;

/**
 * What a transcript needs besides its parts. The screen provides it, so that the same components show live and past sessions, a run in
 * split view, and a document without a daemon, where the functions may be absent.
 */
export interface TranscriptHost {
  /** Whether the user opened or closed this part. `undefined`: neither; the view's default applies. */
  openState(part_id: string): boolean | undefined;
  setOpen(part_id: string, open: boolean): void;
  /** Changes when all parts are opened or closed at once: each part then reads its state again. */
  openedAtOnce?: number;
  /** Loads the missing parts of `[from, to)`. Resolves when they are loaded or have failed. */
  loadParts?(from: number, to: number): Promise<void>;
  /** The part, not truncated. */
  loadWhole?(part_id: string): Promise<TranscriptPart>;
  loadRaw?(part_id: string): Promise<RawRecord>;
  /** What `attachment:<part id>:<n>` stands for. */
  loadAttachment?(reference: string): Promise<Attachment>;
  /** Whole outputs that are kept in files. */
  outputs?: Outputs;
  /** The row of a sub-agent's run, live. A hook: call it unconditionally. */
  useRun?(session_id: string): SessionSummary | undefined;
  /** What a run below a sub-agent's run waits for, at any depth, and where it stands; live. A hook, too. */
  useWaitBelow?(session_id: string): { readonly title: string; readonly href: string } | undefined;
  /**
   * Answers a request. `digest`: SHA-256 of the subject that was on screen, in hex. Rejects with a sentence for the reader.
   * Absent: requests are shown, and answered elsewhere.
   */
  answerRequest?(request_id: string, body: { digest?: string; answer: Answer }): Promise<SettledRequest>;
  /** Answers that were not sent yet, by request id, so that a row keeps them when it is scrolled out of view and back. */
  answerDrafts?: Map<string, AnswerDraft>;
  /** Offers to continue from this prompt (in a new session, or by a rewind). Absent: not possible. */
  goOnFrom?(prompt_id: string): void;
  /** Shows what a turn (from 1) changed. Absent: a document without a daemon. */
  showChanges?(turn: number): void;
  /** Shows time, tokens and cost of a turn (from 1). Absent: as above. */
  showFigures?(turn: number): void;
  /** Shows the input of the model call that made a part. Absent: as above. */
  showContext?(part_id: string): void;
  /** Absent: nothing can be noted, and no note is shown. */
  notes?: NotesHost;
  /** The session waits for the user, so its open turn does not run. */
  waiting?: boolean;
  /** The daemon runs this session: an unknown cost is shown as unknown. */
  is_managed?: boolean;
  partHref(part_id: string): string;
  runHref(session_id: string): string;
  /** The agent's working directory: paths in it are shown relative to it. */
  cwd?: string;
  /** Reader's settings. */
  thinking: "open" | "closed" | "open-while-live";
  showSteps: boolean;
  /** Whether thoughts without text and hooks that only succeeded have rows. Absent: they are folded. */
  everyRecord: boolean;
  /** Switches `everyRecord` on. */
  showEveryRecord?(): void;
  /** `14:03:22`, or relative, as set by the user. */
  formatTime(at: number): string;
}

/** The rows of a turn that are on screen, placed by the screen's virtual list. Absent: all rows, in the page's flow. */
export interface TurnWindow {
  /** Height of the whole turn, heading included, in pixels; absent: that of its rows. */
  height?: number;
  /** Rows to render: `index` is a position in the session's parts, `top` is relative to the turn's top; absent: in the flow. */
  rows: readonly { index: number; top?: number }[];
  /** Ref callback for each row's element (`data-index` holds its index) and for the heading. */
  measure(element: HTMLElement | null): void;
}

export interface TurnTranscriptProps {
  turn: Turn;
  /** The part at a position in the session; `undefined`: not loaded yet (a placeholder row stands there). */
  partAt(index: number): TranscriptPart | undefined;
  host: TranscriptHost;
  window?: TurnWindow;
  /** The part that the address names: marked and focusable. */
  targetPartId?: string;
  /** The text that is searched for in that part: truncated content expands to show it. */
  search?: string;
  /** Position of the first new row, which has the "new" line above it. */
  firstNewRow?: number;
}
