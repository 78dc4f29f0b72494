import type { StopReason, Usage } from "../messages/message.ts";
import { partId } from "../uuid.ts";
import type { Frame } from "./frame.ts";

/** A frame without what every frame of a session says. */
export type FrameBody = Frame extends infer Member
  ? Member extends Frame
    ? Omit<Member, "session_id" | "at">
    : never
  : never;

export interface FrameWriterOptions {
  session_id: string;
  /** The id of the next message; ids of parts are made from it. */
  nextMessageId(): string;
  now(): number;
}

/** How a message ends. */
export interface MessageEnding {
  stop_reason?: StopReason;
  usage?: Usage;
  stop_reason_raw?: string;
}

/**
 * Writes an assistant's messages as frames for a source that tells less than frames say: it opens a message when something is
 * said, ends a part when the kind or the source's own part changes, and never nests, so that its frames keep the order that
 * `createOrderChecker` checks. Every delta carries its offset: the same frames sent twice change nothing.
 */
export interface FrameWriter {
  /** The frames written since the last call. */
  take(): Frame[];
  /** Whether frames wait to be taken. */
  readonly isEmpty: boolean;
  /** The open message. */
  readonly message_id: string | undefined;
  /** Writes a frame as it is; the open part stays open. */
  put(body: FrameBody): void;
  /** Ends the open message without a reason, and begins one. */
  startMessage(fields?: { model?: string; response_id?: string }): void;
  /**
   * Appends to the open part where kind and key are its own; else ends that and begins one. Empty text begins a part too.
   * Gives the part's id.
   */
  say(kind: "text" | "thinking", text: string, key?: string): string;
  /** Ends the open part; with a key, only where it is that one. `signature` is a thought's. */
  endPart(key?: string, fields?: { signature?: string; format?: string }): void;
  startCall(tool_call_id: string, tool_name: string): void;
  call(tool_call_id: string, tool_name: string, arguments_json: string): void;
  image(url: string): void;
  file(file: { mime: string; url: string; filename?: string }): void;
  /** An id for a part that the source does not name: unique in the open message, or in the last one. */
  nextPartId(): string;
  endMessage(ending?: MessageEnding): void;
  /** Forgets the open message without a `message.end`: an interrupt ends it. */
  dropMessage(): void;
}

export function createFrameWriter({ session_id, nextMessageId, now }: FrameWriterOptions): FrameWriter {
  let frames: Frame[] = [];
  let message_id: string | undefined;
  /** What ids of parts are made from: the open message, or the last one. */
  let base: string | undefined;
  let parts = 0;
  let open: { id: string; kind: "text" | "thinking"; key: string | undefined; length: number } | undefined;

  // The cast joins what `FrameBody` took apart: every member of it is a member of `Frame` with these two fields.
  const put = (body: FrameBody): void => {
    frames.push({ ...body, session_id, at: now() } as Frame);
  };
  const nextPartId = (): string => {
    base ??= nextMessageId();
    parts += 1;
    return partId(base, parts);
  };
  const begin = (fields: { model?: string; response_id?: string } = {}): void => {
    message_id = nextMessageId();
    base = message_id;
    parts = 0;
    put({ type: "message.start", message_id, ...fields });
  };
  const ensureMessage = (): void => {
    if (message_id === undefined) begin();
  };
  const endPart: FrameWriter["endPart"] = (key, fields = {}) => {
    if (open === undefined || (key !== undefined && open.key !== key)) return;
    put({ type: "message.part_end", part_id: open.id, ...fields });
    open = undefined;
  };
  const endMessage: FrameWriter["endMessage"] = (ending = {}) => {
    endPart();
    if (message_id === undefined) return;
    put({ type: "message.end", message_id, ...ending });
    message_id = undefined;
  };

  return {
    take() {
      const taken = frames;
      frames = [];
      return taken;
    },
    get isEmpty() {
      return frames.length === 0;
    },
    get message_id() {
      return message_id;
    },
    put,
    startMessage(fields) {
      endMessage();
      begin(fields);
    },
    say(kind, text, key) {
      if (open?.kind !== kind || open.key !== key) {
        endPart();
        ensureMessage();
        open = { id: nextPartId(), kind, key, length: 0 };
        put({ type: "message.part_start", part_id: open.id, kind });
      }
      if (text !== "") {
        put({ type: "message.delta", kind, text, part_id: open.id, offset: open.length });
        open.length += text.length;
      }
      return open.id;
    },
    endPart,
    startCall(tool_call_id, tool_name) {
      endPart();
      ensureMessage();
      put({ type: "message.tool_call_start", tool_call_id, tool_name });
    },
    call(tool_call_id, tool_name, arguments_json) {
      endPart();
      ensureMessage();
      put({ type: "message.tool_call", tool_call_id, tool_name, arguments_json });
    },
    image(url) {
      endPart();
      ensureMessage();
      put({ type: "message.image", part_id: nextPartId(), url });
    },
    file(file) {
      endPart();
      ensureMessage();
      put({ type: "message.file", part_id: nextPartId(), ...file });
    },
    nextPartId,
    endMessage,
    dropMessage() {
      open = undefined;
      message_id = undefined;
    },
  };
}
