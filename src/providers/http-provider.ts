import type { Frame } from "../model/frames/frame.ts";
import type { Message, Usage } from "../model/messages/message.ts";
import type { ImageFilePart, MediaPart, Part } from "../model/messages/part.ts";
import { missingKeyFailure, protocolFailure } from "./failures.ts";
import type {
  ApiProtocol,
  Endpoint,
  Failure,
  ModelCall,
  ModelReply,
  Provider,
  StreamEnd,
} from "./provider.ts";
import { exchange } from "./transport.ts";

/** Of one provider: who it is, how it is spoken to, and what the daemon knows that a wire does not. */
export interface HttpProviderOptions {
  id: string;
  title: string;
  format: ApiProtocol;
  endpoint: Endpoint;
  /** Where a key comes from, one sentence. Present: without a key nothing is sent. */
  key_help?: string;
  /** How long the provider may say nothing at all, in milliseconds. */
  silence_ms?: number;
  /** An image of the session's files as a data URL; `undefined` where it cannot be read. Absent: such images are named, not sent. */
  readImage?(image: ImageFilePart): Promise<string | undefined>;
  /** What the tokens of a call to a model cost in US dollars; `undefined`: nobody knows. Absent: no price is known. */
  costOf?(model: string, usage: Usage): number | undefined;
}

/** A provider that is called over HTTP in one of the wires. */
export function createHttpProvider(options: HttpProviderOptions): Provider {
  const { id, title, format, endpoint, key_help, silence_ms, readImage, costOf } = options;
  const failed = (failure: Failure): ModelReply => ({ failure, executable_calls: [] });
  return {
    id,
    title,
    async stream(call, { signal, emit, now = Date.now }) {
      if (key_help !== undefined && (endpoint.api_key ?? "") === "")
        return failed(missingKeyFailure(title, key_help));
      if (signal.aborted) return { executable_calls: [] };
      const decoder = format.createDecoder({
        session_id: call.session_id,
        message_id: call.message_id,
        provider: id,
        wire: format.wire,
        model: call.model,
        base_url: endpoint.base_url,
        tool_names: call.tools.map(({ name }) => name),
        ...(call.taken_call_ids === undefined ? {} : { taken_call_ids: call.taken_call_ids }),
        // A developer's words are attached to what stands before them.
        answers_results: call.messages.findLast(({ role }) => role !== "developer")?.role === "tool",
        ...(costOf === undefined ? {} : { costOf: (usage: Usage) => costOf(call.model, usage) }),
        now,
      });
      const send = (frames: readonly Frame[]): void => {
        for (const frame of frames) emit(frame);
      };
      let how: StreamEnd;
      try {
        const messages = readImage === undefined ? call.messages : await withImages(call.messages, readImage);
        const attempt = (sent: readonly Message[]) =>
          exchange({
            request: format.encode({ ...call, messages: sent } satisfies ModelCall, id, endpoint),
            decoder,
            signal,
            ...(silence_ms === undefined ? {} : { silence_ms }),
            onEvent: (data, event) => send(decoder.push(data, event)),
          });
        let hasThoughts = true;
        let hasFiles = messages.some((message, at) => message !== call.messages[at]);
        for (;;) {
          const sent = hasFiles ? messages : call.messages;
          how = await attempt(hasThoughts ? sent : sent.map(withoutThoughts));
          if (how.type !== "failure") break;
          if (hasThoughts && refusesThoughts(how.failure)) hasThoughts = false;
          else if (hasFiles && refusesImages(how.failure)) hasFiles = false;
          else break;
        }
      } catch (error) {
        how = {
          type: "failure",
          failure: protocolFailure(`The request could not be made: ${String(error)}`),
        };
      }
      if (how.type === "failure")
        how = { type: "failure", failure: helpful(how.failure, endpoint, key_help) };
      const { frames, reply } = decoder.end(how);
      send(frames);
      return reply;
    },
  };
}

/**
 * Whether the provider cannot take its own thoughts back (another account, another upstream, a key that has changed): nothing
 * was answered then, and the conversation can go on without them.
 */
function refusesThoughts({ status, message }: Failure): boolean {
  return (
    status === 400 &&
    /encrypted.content|(thinking|thought|reasoning).*(signature|cannot be modified|without its required|decrypt|verif)|signature.*(thinking|thought)/is.test(
      message,
    )
  );
}

/** Whether the model takes no images, or not these: nothing was answered then, and those of tools can be named instead. */
function refusesImages({ status = 0, message }: Failure): boolean {
  return status >= 400 && /\bimages?\b|image_url|\bvision\b|multi-?modal/i.test(message);
}

/** As another model's: what a wire wants in the place of a signature it gives to those. */
function withoutThoughts(message: Message): Message {
  if (message.role !== "assistant") return message;
  const { raw_blocks, provider, api, model_id, ...rest } = message;
  const parts = message.parts.filter(({ type }) => type !== "thinking_text" && type !== "thinking_signature");
  return { ...rest, parts };
}

/** The failure without the key that was used, should the provider repeat it; and with where a key comes from. */
function helpful(failure: Failure, { api_key }: Endpoint, key_help: string | undefined): Failure {
  const hidden = api_key === undefined || api_key.length < 4 ? failure : withoutKey(failure, api_key);
  if (hidden.class !== "auth" || key_help === undefined) return hidden;
  return { ...hidden, remedy: hidden.remedy === undefined ? key_help : `${hidden.remedy} ${key_help}` };
}

function withoutKey(failure: Failure, api_key: string): Failure {
  const { message, data, ...rest } = failure;
  const text = data === undefined ? undefined : JSON.stringify(data);
  return {
    ...rest,
    message: message.replaceAll(api_key, "…"),
    ...(text === undefined || text.includes(api_key) ? {} : { data }),
  };
}

/** The messages with the images that are files as data URLs. Messages without such images stay as they are. */
async function withImages(
  messages: readonly Message[],
  readImage: (image: ImageFilePart) => Promise<string | undefined>,
): Promise<Message[]> {
  const resolve = async (part: Part): Promise<Part> => {
    if (part.type !== "image_file") return part;
    const url = await readImage(part);
    return url === undefined ? part : { type: "image_url", url };
  };
  return await Promise.all(
    messages.map(async (message) => {
      if (!message.parts.some((part) => part.type === "image_file")) return message;
      if (message.role === "system") return message;
      const parts = await Promise.all(message.parts.map(resolve));
      // A tool's parts are media before and after.
      return message.role === "tool" ? { ...message, parts: parts as MediaPart[] } : { ...message, parts };
    }),
  );
}
