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

/** How a request stands: whoever was first has answered it. */
export interface SettledRequest {
  outcome: RequestOutcome;
  answer?: Answer;
}

/** What was chosen and typed for an answer that is not given yet. */
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
  /** By the results' ids: a row that scrolls out of view comes back as it was left. */
  readonly opened: ReadonlyMap<string, OpenedOutput>;
  /** Rejects with a sentence for the reader. `byte_size`: of the whole, where that is known. */
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
 * What a transcript cannot get from its parts: it comes from the screen, so that the same components serve a live
 * session, a past one, a run beside its parent, and a document without a daemon (where the functions may be absent).
 */
export interface TranscriptHost {
  /** Whether the reader opened or closed this part (`undefined`: never touched, the view's own default holds). */
  openState(part_id: string): boolean | undefined;
  setOpen(part_id: string, open: boolean): void;
  /** Another one when all were opened or closed at once: each part asks for its state anew. */
  openedAtOnce?: number;
  /** Loads what is missing of the positions `[from, to)`; resolves when it is there or has failed. */
  loadParts?(from: number, to: number): Promise<void>;
  /** The part uncut. */
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
  /** An answer in the making, by the request's id: a row that scrolls out of view comes back as it was left. */
  answerDrafts?: Map<string, AnswerDraft>;
  /** Offers what can begin at this prompt (a new session, a rewind). Absent: nothing can. */
  goOnFrom?(prompt_id: string): void;
  /** Shows what a turn (from 1) changed. Absent: a document without a daemon. */
  showChanges?(turn: number): void;
  /** Shows what a turn (from 1) took. Absent: as above. */
  showFigures?(turn: number): void;
  /** Shows what the model call that made a part was given. Absent: as above. */
  showContext?(part_id: string): void;
  /** Absent: nothing can be noted, and no note is shown. */
  notes?: NotesHost;
  /** The session waits for a person: its open turn does not run meanwhile. */
  waiting?: boolean;
  /** The daemon runs this session: a cost that is not known is said to be so. */
  is_managed?: boolean;
  partHref(part_id: string): string;
  runHref(session_id: string): string;
  /** The folder that the agent works in: paths in it are shown from there. */
  cwd?: string;
  /** Reader's settings. */
  thinking: "open" | "closed" | "open-while-live";
  showSteps: boolean;
  /** Rows for thoughts without text and hooks that only succeeded, too. Absent: they are folded. */
  everyRecord: boolean;
  /** Switches `everyRecord` on. */
  showEveryRecord?(): void;
  /** `14:03:22`, or relative, as the reader chose. */
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
  /** What one looks for in that part: what is cut of it shows the place where it stands. */
  search?: string;
  /** Position of the row before which a line says that it and what follows are new to the reader. */
  firstNewRow?: number;
}
