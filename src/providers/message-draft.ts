import type { Frame } from "../model/frames/frame.ts";
import type { ThinkingSignaturePart, ToolCallPart } from "../model/messages/part.ts";
import { partId } from "../model/uuid.ts";
import type { Place, Proof } from "./message-parts.ts";
import type { DecoderContext, Failure, ReportedUsage } from "./provider.ts";

/** The model and the response id as reported in a response. */
export interface ReportedFacts {
  model?: string | undefined;
  response_id?: string | undefined;
}

/** A message that is being received. */
export interface MessageDraft {
  readonly context: DecoderContext;
  frames: Frame[];
  readonly places: Place[];
  /** Index of the place of the last shown part. Parts that are shown later are also recorded after it. */
  shown_at: number;
  shown: number;
  begun: { at: number; model?: string; response_id?: string } | undefined;
  /** The open text, which is ended when another part is shown. */
  open: { forceEnd(): void } | undefined;
  readonly calls: { part: ToolCallPart; closed: boolean; finish(): void }[];
  // Taken call ids. Some servers restart their ids in each answer, such as Kimi's `functions.read:0`.
  readonly call_ids: Set<string>;
  readonly texts: { finish(): void }[];
  reported: ReportedUsage | undefined;
  context_tokens: number | undefined;
  raw_blocks: unknown;
  failed_with: Failure | undefined;
}

/** Creates a message of which nothing has been received yet. */
export function createDraft(context: DecoderContext): MessageDraft {
  return {
    context,
    frames: [],
    places: [],
    shown_at: -1,
    shown: 0,
    begun: undefined,
    open: undefined,
    calls: [],
    call_ids: new Set(context.taken_call_ids),
    texts: [],
    reported: undefined,
    context_tokens: undefined,
    raw_blocks: undefined,
    failed_with: undefined,
  };
}

/** The session id and the time, for the next frame. */
export function now(draft: MessageDraft): { session_id: string; at: number } {
  return { session_id: draft.context.session_id, at: draft.context.now() };
}

/** Begins the message, unless it has already begun. */
export function begin(draft: MessageDraft, facts: ReportedFacts = {}): void {
  if (draft.begun !== undefined) return;
  const { model, response_id } = facts;
  const common = now(draft);
  const known = {
    ...(model === undefined || model === "" ? {} : { model }),
    ...(response_id === undefined || response_id === "" ? {} : { response_id }),
  };
  draft.begun = { at: common.at, ...known };
  draft.frames.push({ ...common, type: "message.start", message_id: draft.context.message_id, ...known });
}

/** Reserves the next place in the message. */
export function place(draft: MessageDraft): Place {
  const next: Place = { index: draft.places.length, parts: [] };
  draft.places.push(next);
  return next;
}

/** Prepares for showing a part: ends the open part, and returns the place and id of the new one. */
export function show(draft: MessageDraft, wanted: Place): { home: Place; part_id: string } {
  begin(draft);
  draft.open?.forceEnd();
  draft.open = undefined;
  const home = wanted.index < draft.shown_at ? place(draft) : wanted;
  draft.shown_at = home.index;
  draft.shown += 1;
  return { home, part_id: partId(draft.context.message_id, draft.shown - 1) };
}

/** Returns the frames since the last call. */
export function take(draft: MessageDraft): Frame[] {
  const taken = draft.frames;
  draft.frames = [];
  return taken;
}

/** The part in which a signature is recorded. */
export function signaturePart({ signature, format, id, detail }: Proof): ThinkingSignaturePart {
  return {
    type: "thinking_signature",
    signature,
    format,
    ...(id === undefined ? {} : { id }),
    ...(detail === undefined ? {} : { detail }),
  };
}
