import type { StopReason, Usage } from "../messages/message.ts";
import { partId } from "../uuid.ts";
import type { Frame } from "./frame.ts";

/** A frame without the fields that all frames of a session share. */
export type FrameBody = Frame extends infer Member
  ? Member extends Frame
    ? Omit<Member, "session_id" | "at">
    : never
  : never;
/** The body of a frame of one type. */
export type FrameBodyOf<Type extends FrameBody["type"]> = Extract<FrameBody, { type: Type }>;

export interface FrameWriterOptions {
  session_id: string;
  /** Returns the id of the next message. Part ids are derived from it. */
  nextMessageId(): string;
  now(): number;
}

/** The end of a message. */
export interface MessageEnding {
  stop_reason?: StopReason;
  usage?: Usage;
  stop_reason_raw?: string;
}

/**
 * Writes an assistant's messages as frames, for a source with less structure than frames. It opens a message when there is
 * output, ends a part when the kind or the source's own part changes, and never nests, so that its frames are in the order that
 * `createOrderChecker` checks. Each delta has an offset, so that repeated frames have no effect.
 */
export interface FrameWriter {
  /** Returns the frames written since the last call. */
  take(): Frame[];
  /** Whether `take` would return no frames. */
  readonly isEmpty: boolean;
  /** The id of the open message. */
  readonly message_id: string | undefined;
  /** Writes a frame unchanged. The open part stays open. */
  put(body: FrameBody): void;
  /** Ends the open message without a stop reason, and begins a new one. */
  startMessage(fields?: { model?: string; response_id?: string }): void;
  /**
   * Appends to the open part if its kind and key match. Otherwise ends that part and begins a new one, also for empty text.
   * Returns the part's id.
   */
  appendText(kind: "text" | "thinking", text: string, key?: string): string;
  /** Ends the open part; with a key, only if it matches. `signature`: for a thought. */
  endPart(key?: string, fields?: { signature?: string; format?: string }): void;
  startCall(tool_call_id: string, tool_name: string): void;
  call(tool_call_id: string, tool_name: string, arguments_json: string): void;
  image(url: string): void;
  file(file: { mime: string; url: string; filename?: string }): void;
  /** An id for a part without an id of its own: unique in the open message, or in the last one. */
  nextPartId(): string;
  endMessage(ending?: MessageEnding): void;
  /** Drops the open message without a `message.end`, because an interrupt ends it. */
  dropMessage(): void;
}

export function createFrameWriter({ session_id, nextMessageId, now }: FrameWriterOptions): FrameWriter {
  let frames: Frame[] = [];
  let message_id: string | undefined;
  /** The id from which part ids are derived: the open message, or the last one. */
  let base: string | undefined;
  let parts = 0;
  let open: { id: string; kind: "text" | "thinking"; key: string | undefined; length: number } | undefined;

  // The cast is safe: each member of `FrameBody` is a member of `Frame` without these two fields.
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
    appendText(kind, text, key) {
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
