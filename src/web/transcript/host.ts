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
  /** The record's position in the agent's own store. Absent: it is `line` of `file`. */
  place?: Source;
}

/** The outcome of a request. The first answer counts. */
export interface RequestResult {
  outcome: RequestOutcome;
  answer?: Answer;
}

/** The choices and text of an answer that was not sent yet. */
export interface AnswerDraft {
  readonly option_ids: readonly string[];
  readonly text: string;
}

/** A loaded image or file. */
export interface Attachment {
  /** Blob URL. */
  readonly address: string;
  readonly byte_size: number;
  /** Number of pixels according to the image's header. Absent: unknown, or not an image. */
  readonly pixels?: number;
}

/** A page of an output file. It begins at byte `starts.at(-1)`. */
export interface OpenedOutput {
  readonly text: string;
  /** Byte offsets of the pages that were opened to get here, ending with this one. */
  readonly starts: readonly number[];
  /** Byte offset of the next page. Absent: this page reaches the end of the file. */
  readonly next?: number;
}

export interface Outputs {
  /** By result id, kept here so that a row keeps its state when it is unmounted and mounted again by scrolling. */
  readonly opened: ReadonlyMap<string, OpenedOutput>;
  /** Loads a page. Rejects with a message for the user. `byte_size`: size of the whole output, if known. */
  open(part_id: string, starts: readonly number[], byte_size: number | undefined): Promise<void>;
  close(part_id: string): void;
}

/** The saved notes, and drafts of notes. The key of a draft is the id of the edited note, or `newNoteKey` for a new one. */
export interface NotesHost {
  /** Hook: the notes on any of these parts, oldest first. Re-renders when they change. */
  useNotes(part_ids: readonly string[]): readonly Note[];
  /** Hook: the text of a draft; `undefined`: there is none. Re-renders when it changes. */
  useDraft(key: string): string | undefined;
  /** Changes a draft. `undefined` deletes it. */
  setDraft(key: string, text: string | undefined): void;
  /** Opens an editor and focuses it once. Keeps an existing draft. */
  begin(key: string, text: string): void;
  /** Whether an editor that is being mounted should take the focus: `true` only once after `begin`. */
  takesFocus(key: string): boolean;
  /**
   * Saves a new note. Rejects with a message for the user, like the two below. `part_id` is `undefined` for a note on the
   * session.
   */
  add(part_id: string | undefined, text: string): Promise<void>;
  change(note: Note, text: string): Promise<void>;
  remove(note: Note): Promise<void>;
}
/** The key of the draft of a new note. */
export const newNoteKey = (part_id: string | undefined): string => `new:${part_id ?? ""}`;

/**
 * What a transcript needs besides its parts. It is provided by the screen, so that the same components show live and past
 * sessions, a run in split view, and a document without a daemon, where the optional functions are absent.
 */
export interface TranscriptHost {
  /** Whether the user opened or closed this part. `undefined`: neither; the view's default applies. */
  openState(part_id: string): boolean | undefined;
  setOpen(part_id: string, open: boolean): void;
  /** Changes when all parts are opened or closed at once, upon which each part reads its `openState` again. */
  allToggles?: number;
  /** Loads the missing parts of `[from, to)`. Resolves when they are loaded or have failed. */
  loadParts?(from: number, to: number): Promise<void>;
  /** Loads a part without truncation. */
  loadWhole?(part_id: string): Promise<TranscriptPart>;
  loadRaw?(part_id: string): Promise<RawRecord>;
  /** Loads the attachment that `attachment:<part id>:<n>` refers to. */
  loadAttachment?(reference: string): Promise<Attachment>;
  /** Outputs that the agent keeps in files. */
  outputs?: Outputs;
  /** Hook, to be called unconditionally: the list row of a sub-agent's run. Re-renders when it changes. */
  useRun?(session_id: string): SessionSummary | undefined;
  /** Hook: a request of any descendant of a sub-agent's run, with the address of the session that asks. */
  useWaitBelow?(session_id: string): { readonly title: string; readonly href: string } | undefined;
  /**
   * Answers a request. `digest`: SHA-256 of the subject that was on screen, in hex. Rejects with a message for the user.
   * Absent: requests are shown but must be answered elsewhere.
   */
  answerRequest?(request_id: string, body: { digest?: string; answer: Answer }): Promise<RequestResult>;
  /** Unsent answers by request id, kept here so that they survive when scrolling unmounts the row. */
  answerDrafts?: Map<string, AnswerDraft>;
  /** Offers to continue from this prompt, in a fork or after a rewind. Absent: not possible. */
  branchFrom?(prompt_id: string): void;
  /** Shows the changes of a turn (counted from 1). Absent in a document without a daemon, like the two below. */
  showChanges?(turn: number): void;
  /** Shows time, tokens and cost of a turn (counted from 1). */
  showFigures?(turn: number): void;
  /** Shows the input of the model call that created a part. */
  showContext?(part_id: string): void;
  /** Absent: notes are neither shown nor offered. */
  notes?: NotesHost;
  /** Whether the session waits for the user, in which case its open turn is not shown as running. */
  waiting?: boolean;
  /** Ids of the calls that wait for the user, if known. */
  waitingCalls?: ReadonlySet<string>;
  /** Whether the daemon runs this session. Only then is an unknown cost shown as unknown. */
  is_managed?: boolean;
  partHref(part_id: string): string;
  runHref(session_id: string): string;
  /** The agent's working directory: paths in it are shown relative to it. */
  cwd?: string;
  /** User settings. */
  thinking: "open" | "closed" | "open-while-live";
  showSteps: boolean;
  /** Whether thoughts without text and hooks that merely succeeded have rows of their own. `false`: they are folded. */
  everyRecord: boolean;
  /** Turns `everyRecord` on. */
  showEveryRecord?(): void;
  /** `14:03:22`, or relative, as set by the user. */
  formatTime(at: number): string;
}

/**
 * The rows of a turn in the viewport, positioned by the screen's virtual list. Without it, all rows are rendered in normal flow.
 */
export interface TurnWindow {
  /** Height of the whole turn including its heading, in pixels. Absent: the height of its rows. */
  height?: number;
  /** Rows to render. `index`: position in the session's parts. `top`: relative to the turn's top; absent: in normal flow. */
  rows: readonly { index: number; top?: number }[];
  /** Ref callback for each row's element (`data-index` holds its index) and for the heading. */
  measure(element: HTMLElement | null): void;
}

export interface TurnTranscriptProps {
  turn: Turn;
  /** The part at a position in the session; `undefined`: not loaded yet, so a placeholder row is rendered. */
  partAt(index: number): TranscriptPart | undefined;
  host: TranscriptHost;
  window?: TurnWindow;
  /** The part that the page's address refers to: it is highlighted and focusable. */
  targetPartId?: string;
  /** The text to find in that part: truncated content expands to show it. */
  search?: string;
  /** Position of the first unread row, above which the "new" divider is rendered. */
  firstNewRow?: number;
}
