import type { Frame } from "../model/frames/frame.ts";
import type { ThinkingSignaturePart, ToolCallPart } from "../model/messages/part.ts";
import { partId } from "../model/uuid.ts";
import type { Place, Proof } from "./message-parts.ts";
import type { DecoderContext, Failure, ReportedUsage } from "./provider.ts";

/** The model and the id that a response reports of itself. */
export interface ReportedFacts {
  model?: string | undefined;
  response_id?: string | undefined;
}

/** A message that is being received. */
export interface MessageDraft {
  readonly context: DecoderContext;
  frames: Frame[];
  readonly places: Place[];
  /** The place of the last shown part. Parts that are shown later are also recorded after it. */
  shown_at: number;
  shown: number;
  begun: { at: number; model?: string; response_id?: string } | undefined;
  /** The text that later parts end. */
  open: { forceEnd(): void } | undefined;
  readonly calls: { part: ToolCallPart; closed: boolean; finish(): void }[];
  // Some servers restart their call ids in each answer, such as Kimi's `functions.read:0`.
  readonly call_ids: Set<string>;
  readonly texts: { finish(): void }[];
  reported: ReportedUsage | undefined;
  context_tokens: number | undefined;
  raw_blocks: unknown;
  failed_with: Failure | undefined;
}

/** A message of which nothing was received. */
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

/** The session and the time of the next frame. */
export function now(draft: MessageDraft): { session_id: string; at: number } {
  return { session_id: draft.context.session_id, at: draft.context.now() };
}

/** Begins the message, if it has not begun. */
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

/** Reserves the next place. */
export function place(draft: MessageDraft): Place {
  const next: Place = { index: draft.places.length, parts: [] };
  draft.places.push(next);
  return next;
}

/** Ends open parts and returns the place and id of the next shown part. */
export function show(draft: MessageDraft, wanted: Place): { home: Place; part_id: string } {
  begin(draft);
  draft.open?.forceEnd();
  draft.open = undefined;
  const home = wanted.index < draft.shown_at ? place(draft) : wanted;
  draft.shown_at = home.index;
  draft.shown += 1;
  return { home, part_id: partId(draft.context.message_id, draft.shown - 1) };
}

/** Takes the frames since the last call. */
export function take(draft: MessageDraft): Frame[] {
  const taken = draft.frames;
  draft.frames = [];
  return taken;
}

/** A signature as it is recorded. */
export function signaturePart({ signature, format, id, detail }: Proof): ThinkingSignaturePart {
  return {
    type: "thinking_signature",
    signature,
    format,
    ...(id === undefined ? {} : { id }),
    ...(detail === undefined ? {} : { detail }),
  };
}
