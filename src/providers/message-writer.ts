import type { Frame } from "../model/frames/frame.ts";
import type { AssistantMessage, StopReason } from "../model/messages/message.ts";
import type {
  Part,
  TextPart,
  ThinkingSignaturePart,
  ThinkingTextPart,
  ToolCallPart,
} from "../model/messages/part.ts";
import { partId } from "../model/uuid.ts";
import { argumentsObject } from "./json.ts";
import type { DecoderContext, Failure, ModelReply, ReportedUsage } from "./provider.ts";
import { offeredToolName } from "./tool-names.ts";
import { usageOf } from "./usage.ts";

/**
 * A block of the response in its order, reserved when the response first mentions it. Records the parts that are shown for it,
 * and those that must be sent back to its provider.
 */
export interface Place {
  readonly index: number;
  readonly parts: Part[];
}

/** A text or thought that is being received. It begins with its first non-empty delta, so that empty blocks are omitted. */
export interface GrowingText {
  /** Everything received so far. */
  readonly text: string;
  append(delta: string): void;
  /** Sets the provider's id of the item, if it comes late or changes at the end. */
  name(id: string): void;
  /**
   * Ends it. `whole`: the complete text according to the response, which takes precedence. If another part forced the end, later
   * deltas revise the part.
   */
  end(whole?: string): void;
}

/** A thought that is being received, which its provider may sign. */
export interface GrowingThought extends GrowingText {
  /**
   * Sets the complete signature of the thought, before or after its end. A thought without text is then shown as hidden when it
   * ends, with the given reason.
   */
  sign(proof: Proof): void;
}

interface Proof {
  signature: string;
  format: string;
  id?: string;
  detail?: unknown;
  /** The reason why a thought has no text, if it has none. Absent: `encrypted`. */
  hidden?: "encrypted" | "redacted" | "empty";
}

/** A call that is being received. Its arguments are text until it is closed, and may be invalid JSON even then. */
export interface GrowingCall {
  readonly call_id: string;
  readonly arguments_json: string;
  append(delta: string): void;
  /** Sets the provider's id of the call's item, if it comes late. */
  name(item_id: string): void;
  /** Closes the call. `whole`: its complete arguments, if the response contains them. */
  close(whole?: string): void;
}

/** What is known about a call when it begins. */
interface CallFields {
  /** Absent or empty: the provider sends no id, and one is generated. */
  call_id?: string | undefined;
  tool_name: string;
  item_id?: string | undefined;
  namespace?: string | undefined;
  /** The provider's id, if it is not unique in the session and `call_id` is another one. */
  provider_call_id?: string | undefined;
}

/** How a message ended according to the response. */
export interface Ending {
  stop_reason: StopReason;
  stop_reason_raw?: string;
  stop_details?: unknown;
  /** The reason, with `stop_reason: "error"`. */
  failure?: Failure;
}

/** Writes one message from the events of a decoder: frames while it is received, and the stored message at the end. */
export interface MessageWriter {
  /**
   * Begins the message. Only the first call has an effect; parts begin it if it was not called. The reported model and the
   * response's id must be passed here, because history takes them from the resulting frame.
   */
  begin(facts?: { model?: string | undefined; response_id?: string | undefined }): void;
  readonly begun: boolean;
  /** Reserves the next place. */
  place(): Place;
  text(place: Place, fields?: Pick<TextPart, "id" | "phase" | "refusal">): GrowingText;
  thought(place: Place, fields?: Pick<ThinkingTextPart, "id" | "reasoning_field" | "detail">): GrowingThought;
  /** Begins a call whose name is known. Open text ends before it. */
  call(place: Place, fields: CallFields): GrowingCall;
  image(place: Place, url: string): void;
  /** Adds a block without a part type: shown collapsed and recorded as raw data. `title`: a short description. */
  unknown(place: Place, raw: unknown, title: string): void;
  /** Like `unknown`, for data that must not be sent back to the provider: shown, but not recorded in the message. */
  stray(place: Place, raw: unknown, title: string): void;
  /** Records a part that is not shown, after the place's other parts. */
  keep(place: Place, part: Part): void;
  /** Sets the usage; the last call counts. `context_tokens`: size of the context, if it is not input + output. */
  usage(reported: ReportedUsage, context_tokens?: number): void;
  /** Sets opaque JSON that must be sent back together with the parts. */
  rawBlocks(blocks: unknown): void;
  /** Records an error of the provider, which makes the message fail. The first one counts. */
  fail(failure: Failure): void;
  readonly failure: Failure | undefined;
  /** Whether there is anything but hidden thoughts. */
  readonly saysSomething: boolean;
  /** Number of calls that began. */
  readonly calls: number;
  /** Returns the frames since the last call. */
  take(): Frame[];
  /** Ends the message. `aborted`: without `message.end`. Call it once, at the end. */
  end(ending: Ending): { frames: Frame[]; reply: ModelReply };
}

/** The id of a call for which the provider sends no id or one that is not unique. The same each time the stream is read. */
function mintCallId(message_id: string, index: number): string {
  return `call_${partId(message_id, index).replaceAll("-", "")}`;
}

interface TextFields {
  id?: string;
  phase?: string;
  refusal?: boolean;
  reasoning_field?: string;
  detail?: unknown;
}

interface OpenText {
  forceEnd(): void;
}

export function createMessageWriter(context: DecoderContext): MessageWriter {
  const { session_id, message_id } = context;
  let frames: Frame[] = [];
  const places: Place[] = [];
  /** The place of the last shown part. Parts that are shown later are also recorded after it. */
  let shown_at = -1;
  let shown = 0;
  let begun: { at: number; model?: string; response_id?: string } | undefined;
  let open: OpenText | undefined;
  const calls: { part: ToolCallPart; closed: boolean; finish(): void }[] = [];
  // Some servers restart their call ids in each answer, such as Kimi's `functions.read:0`.
  const call_ids = new Set(context.taken_call_ids);
  const texts: { finish(): void }[] = [];
  let reported: ReportedUsage | undefined;
  let context_tokens: number | undefined;
  let raw_blocks: unknown;
  let failed_with: Failure | undefined;

  const now = () => ({ session_id, at: context.now() });

  const begin: MessageWriter["begin"] = (facts = {}) => {
    if (begun !== undefined) return;
    const { model, response_id } = facts;
    const common = now();
    const known = {
      ...(model === undefined || model === "" ? {} : { model }),
      ...(response_id === undefined || response_id === "" ? {} : { response_id }),
    };
    begun = { at: common.at, ...known };
    frames.push({ ...common, type: "message.start", message_id, ...known });
  };

  const place = (): Place => {
    const next: Place = { index: places.length, parts: [] };
    places.push(next);
    return next;
  };
  /** Ends open parts and returns the place and id of the next shown part. */
  const show = (wanted: Place): { home: Place; part_id: string } => {
    begin();
    open?.forceEnd();
    open = undefined;
    const home = wanted.index < shown_at ? place() : wanted;
    shown_at = home.index;
    shown += 1;
    return { home, part_id: partId(message_id, shown - 1) };
  };

  /** Records a thought without readable text. If later parts are already shown, it is recorded but not shown. */
  const hide = (wanted: Place, proof: Proof, fields: Pick<ThinkingTextPart, "id" | "detail">): void => {
    const { hidden = "encrypted" } = proof;
    const thought: ThinkingTextPart = { ...fields, type: "thinking_text", text: "", hidden };
    if (wanted.index < shown_at) {
      wanted.parts.push(thought, signaturePart(proof));
      return;
    }
    const { home, part_id } = show(wanted);
    const common = now();
    home.parts.push({ ...thought, part_id, at: common.at }, signaturePart(proof));
    frames.push(
      { ...common, type: "message.part_start", part_id, kind: "thinking", message_id },
      {
        ...common,
        type: "message.part_end",
        part_id,
        text: "",
        signature: proof.signature,
        format: proof.format,
        hidden,
      },
    );
  };

  const grow = (wanted: Place, kind: "text" | "thinking", given: TextFields) => {
    let fields = given;
    let text = "";
    let proof: Proof | undefined;
    let state: "unopened" | "open" | "ended" = "unopened";
    /** Whether the text changed after the last end was sent. */
    let stale = false;
    let part: TextPart | ThinkingTextPart | undefined;
    let home = wanted;
    let part_id = "";

    const sendEnd = (): void => {
      stale = false;
      frames.push({
        ...now(),
        type: "message.part_end",
        part_id,
        text: text.toWellFormed(),
        ...(proof === undefined ? {} : { signature: proof.signature, format: proof.format }),
      });
    };
    const self: OpenText & GrowingThought & { finish(): void } = {
      get text() {
        return text;
      },
      append(delta) {
        if (delta === "") return;
        // It was already shown as hidden, so further text is a separate thought.
        if (state === "ended" && part === undefined) {
          state = "unopened";
          proof = undefined;
        }
        if (state === "unopened") {
          ({ home, part_id } = show(wanted));
          open = self;
          state = "open";
          const common = now();
          const recorded = { ...fields, part_id, at: common.at, text: "" };
          part = kind === "text" ? { ...recorded, type: "text" } : { ...recorded, type: "thinking_text" };
          home.parts.push(part);
          if (proof !== undefined) home.parts.push(signaturePart(proof));
          frames.push({
            ...common,
            type: "message.part_start",
            part_id,
            kind,
            message_id,
            ...(fields.phase === undefined ? {} : { phase: fields.phase }),
          });
        }
        if (state === "open") {
          frames.push({ ...now(), type: "message.delta", kind, text: delta, part_id, offset: text.length });
        } else stale = true;
        text += delta;
      },
      name(id) {
        fields = { ...fields, id };
        if (part !== undefined) part.id = id;
      },
      end(whole) {
        if (whole !== undefined && whole !== text) {
          if (whole.startsWith(text)) self.append(whole.slice(text.length));
          else if (whole !== "") {
            text = whole;
            stale = true;
          }
        }
        if (state === "open") {
          open = undefined;
          state = "ended";
          sendEnd();
        } else if (state === "ended" && stale) sendEnd();
        else if (state === "unopened" && proof !== undefined) {
          state = "ended";
          hide(wanted, proof, fields);
        }
      },
      forceEnd() {
        state = "ended";
        sendEnd();
      },
      sign(signed) {
        const repeated = proof !== undefined;
        proof = signed;
        if (part === undefined) return;
        const at = home.parts.indexOf(part) + 1;
        home.parts.splice(at, repeated ? 1 : 0, signaturePart(signed));
        if (state === "ended") sendEnd();
      },
      finish() {
        self.end();
        if (part !== undefined) part.text = text.toWellFormed();
      },
    };
    texts.push(self);
    return self;
  };

  return {
    begin,
    get begun() {
      return begun !== undefined;
    },
    get calls() {
      return calls.length;
    },
    get saysSomething() {
      return places.some(({ parts }) =>
        parts.some(
          (part) =>
            part.type !== "thinking_signature" &&
            !(part.type === "thinking_text" && part.hidden !== undefined),
        ),
      );
    },
    place,
    text: (wanted, fields = {}) => grow(wanted, "text", fields),
    thought: (wanted, fields = {}) => grow(wanted, "thinking", fields),
    call(wanted, { call_id: given, tool_name: called, item_id, namespace, provider_call_id: original }) {
      const tool_name = offeredToolName(called, context.tool_names ?? []);
      const { home, part_id } = show(wanted);
      const isNew = given !== undefined && given !== "" && !call_ids.has(given);
      const call_id = isNew ? given : mintCallId(message_id, shown - 1);
      const provider_call_id = original ?? (isNew || given === "" ? undefined : given);
      call_ids.add(call_id);
      const common = now();
      const part: ToolCallPart = {
        type: "tool_call",
        part_id,
        at: common.at,
        call_id,
        tool_name,
        arguments_json: "",
        ...(item_id === undefined ? {} : { item_id }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(provider_call_id === undefined ? {} : { provider_call_id }),
      };
      home.parts.push(part);
      const named = { part_id, message_id, tool_call_id: call_id, tool_name };
      frames.push({ ...common, type: "message.tool_call_start", ...named });
      let arguments_json = "";
      const call = {
        part,
        closed: false,
        finish() {
          if (call.closed) return;
          part.arguments_json = arguments_json.toWellFormed();
          part.unfinished = true;
        },
      };
      calls.push(call);
      return {
        call_id,
        get arguments_json() {
          return arguments_json;
        },
        append(delta) {
          arguments_json += delta;
        },
        name(id) {
          part.item_id = id;
        },
        close(whole) {
          if (call.closed) return;
          call.closed = true;
          part.arguments_json = (whole ?? arguments_json).toWellFormed();
          frames.push({
            ...now(),
            type: "message.tool_call",
            ...named,
            arguments_json: part.arguments_json,
          });
        },
      };
    },
    image(wanted, url) {
      const { home, part_id } = show(wanted);
      const common = now();
      home.parts.push({ type: "image_url", part_id, at: common.at, url });
      frames.push({ ...common, type: "message.image", part_id, message_id, url });
    },
    unknown(wanted, raw, title) {
      // History has an event for it. The copy in the record is for the provider only.
      const { home, part_id } = show(wanted);
      home.parts.push({ type: "unknown", raw });
      frames.push({ ...now(), type: "unknown", part_id, raw, title });
    },
    stray(wanted, raw, title) {
      const { part_id } = show(wanted);
      frames.push({ ...now(), type: "unknown", part_id, raw, title });
    },
    keep(wanted, part) {
      wanted.parts.push(part);
    },
    usage(counted, tokens) {
      reported = counted;
      context_tokens = tokens ?? counted.input_tokens + counted.output_tokens;
    },
    fail(failure) {
      failed_with ??= failure;
    },
    get failure() {
      return failed_with;
    },
    rawBlocks(blocks) {
      raw_blocks = blocks;
    },
    take() {
      const taken = frames;
      frames = [];
      return taken;
    },
    end({ stop_reason, stop_reason_raw, stop_details, failure }) {
      const counted = {
        ...(reported === undefined ? {} : { usage: reported }),
        ...(context_tokens === undefined ? {} : { context_tokens }),
      };
      const failed = failure === undefined ? {} : { failure };
      if (begun === undefined && (stop_reason === "error" || stop_reason === "aborted")) {
        return { frames: [], reply: { executable_calls: [], ...failed, ...counted } };
      }
      begin();
      for (const text of texts) text.finish();
      for (const call of calls) call.finish();
      const counts = reported === undefined ? undefined : usageOf(reported);
      const cost = counts && (counts.cost ?? context.costOf?.(counts));
      const usage = counts && (cost === undefined ? counts : { ...counts, cost });
      const error = failure?.message;
      const ending = {
        stop_reason,
        ...(usage === undefined ? {} : { usage }),
        ...(stop_reason_raw === undefined ? {} : { stop_reason_raw }),
        ...(error === undefined ? {} : { error }),
      };
      const { at = 0, ...known } = begun ?? {};
      const message: AssistantMessage = {
        role: "assistant",
        id: message_id,
        created_at: new Date(at).toISOString(),
        ...known,
        provider: context.provider,
        api: context.wire,
        model_id: context.model,
        parts: places.flatMap(({ parts }) => parts),
        ...ending,
        ...(raw_blocks === undefined ? {} : { raw_blocks }),
        ...(stop_details === undefined ? {} : { stop_details }),
      };
      frames.push({ ...now(), type: "message.record", message });
      if (stop_reason !== "aborted") frames.push({ ...now(), type: "message.end", message_id, ...ending });
      const may_run = stop_reason === "stop" || stop_reason === "tool_use";
      const executable_calls = calls
        .filter(({ part, closed }) => may_run && closed && argumentsObject(part.arguments_json) !== undefined)
        .map(({ part }) => part.call_id);
      const taken = frames;
      frames = [];
      return { frames: taken, reply: { message, executable_calls, ...failed, ...counted } };
    },
  };
}

function signaturePart({ signature, format, id, detail }: Proof): ThinkingSignaturePart {
  return {
    type: "thinking_signature",
    signature,
    format,
    ...(id === undefined ? {} : { id }),
    ...(detail === undefined ? {} : { detail }),
  };
}
