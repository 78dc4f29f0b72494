import type { Frame } from "../model/frames/frame.ts";
import type { Message, Usage } from "../model/messages/message.ts";
import type { ImageFilePart, MediaPart, Part } from "../model/messages/part.ts";
import type { TextParams } from "../model/text/catalog.ts";
import type { TextCode } from "../model/text/coded-text.ts";
import type { DisplayText } from "../model/text/display-text.ts";
import { textFields } from "../model/text/display-text.ts";
import { failureText } from "../model/text/failure-texts.ts";
import { titleFields } from "../model/text/titles.ts";
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

/** Configuration of a provider. */
export interface HttpProviderOptions {
  id: string;
  title: string;
  format: ApiProtocol;
  endpoint: Endpoint;
  /**
   * How to get a key, in one sentence; a coded text has the parameters of `check_key`. If present, a key is required and nothing
   * is sent without it.
   */
  key_help?: DisplayText;
  /** Time without any data after which a call fails, in milliseconds. */
  silence_ms?: number;
  /**
   * Reads an image file of the session as a data URL; `undefined`: it cannot be read. Absent: such images are mentioned but not
   * sent.
   */
  readImage?(image: ImageFilePart): Promise<string | undefined>;
  /** The cost of a call in US dollars; `undefined`: unknown. Absent: no prices are known. */
  costOf?(model: string, usage: Usage): number | undefined;
}

/** Creates a provider that is called over HTTP with one of the API protocols. */
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
        // Developer messages are attached to the preceding message.
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
          failure: protocolFailure(failureText("request_not_created", { reason: String(error) })),
        };
      }
      if (how.type === "failure")
        how = { type: "failure", failure: withKeyHelp(how.failure, endpoint, key_help) };
      const { frames, reply } = decoder.end(how);
      send(frames);
      return reply;
    },
  };
}

/**
 * Whether the provider rejected its own thoughts (because of another account, another upstream, or a changed key). There was no
 * answer, so the call can be repeated without them.
 */
function refusesThoughts({ status, message }: Failure): boolean {
  return (
    status === 400 &&
    /encrypted.content|(thinking|thought|reasoning).*(signature|cannot be modified|without its required|decrypt|verif)|signature.*(thinking|thought)/is.test(
      message,
    )
  );
}

/**
 * Whether the model rejected the images, or images in general. There was no answer, so the call can be repeated with images from
 * tools only mentioned.
 */
function refusesImages({ status = 0, message }: Failure): boolean {
  return status >= 400 && /\bimages?\b|image_url|\bvision\b|multi-?modal/i.test(message);
}

/** Makes a message look like another model's, so that the encoder uses placeholders for signatures. */
function withoutThoughts(message: Message): Message {
  if (message.role !== "assistant") return message;
  const { raw_blocks, provider, api, model_id, ...rest } = message;
  const parts = message.parts.filter(({ type }) => type !== "thinking_text" && type !== "thinking_signature");
  return { ...rest, parts };
}

/** Adds the help about keys to the remedy of an authentication failure, and masks the key if the provider repeated it. */
function withKeyHelp(failure: Failure, { api_key }: Endpoint, key_help: DisplayText | undefined): Failure {
  const hidden = api_key === undefined || api_key.length < 4 ? failure : withoutKey(failure, api_key);
  if (hidden.class !== "auth" || key_help === undefined) return hidden;
  const { remedy, remedy_code, ...rest } = hidden;
  if (remedy === undefined) return { ...rest, ...textFields("remedy", key_help) };
  const { title: help, title_code } = titleFields(key_help);
  return { ...rest, remedy: `${remedy} ${help}`, ...withHelp(remedy_code, title_code) };
}

/** The code of a remedy that ends with the help about keys, whose parameters it takes. */
function withHelp(
  remedy_code: TextCode | undefined,
  help: TextCode | undefined,
): Pick<Failure, "remedy_code"> {
  if (remedy_code === undefined || help === undefined) return {};
  return { remedy_code: { code: remedy_code.code, params: { ...remedy_code.params, ...help.params } } };
}

function withoutKey(failure: Failure, api_key: string): Failure {
  const { message, title_code, data, ...rest } = failure;
  const text = data === undefined ? undefined : JSON.stringify(data);
  return {
    ...rest,
    message: message.replaceAll(api_key, "…"),
    ...(title_code === undefined ? {} : { title_code: codeWithoutKey(title_code, api_key) }),
    ...(text === undefined || text.includes(api_key) ? {} : { data }),
  };
}

function codeWithoutKey({ code, params = {} }: TextCode, api_key: string): TextCode {
  const masked = Object.entries(params).map(([name, value]) => [
    name,
    typeof value === "string" ? value.replaceAll(api_key, "…") : value,
  ]);
  return { code, params: Object.fromEntries(masked) as TextParams };
}

/** Replaces images in files with data URLs. Messages without such images are unchanged. */
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
      // The cast is safe: a tool's parts stay media parts.
      return message.role === "tool" ? { ...message, parts: parts as MediaPart[] } : { ...message, parts };
    }),
  );
}
