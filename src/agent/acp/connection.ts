import { StringDecoder } from "node:string_decoder";
import type {
  AnyMessage,
  ClientContext,
  CreateElicitationResponse,
  RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { createLineCutter } from "../../model/line-cutter.ts";
import { asObject, asString, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import type { AgentProcess } from "./agent-process.ts";
import { errorText } from "./failures.ts";
import { CANCEL_REQUEST, ELICITATION, REQUEST_PERMISSION, UPDATE } from "./methods.ts";

/** Who hears what the agent says, in its order, before any answer to us that stands behind it is acted on. */
interface Listener {
  /** A `session/update`. */
  onUpdate(params: JsonObject): void;
  /** A notification that the protocol does not have, or a request for what was not offered. */
  onUnknown(message: JsonObject): void;
  /** A line that is no message. */
  onNoise(line: string): void;
  /** A `session/request_permission`; `withdrawn` is aborted when the agent takes it back. Never rejects. */
  onPermission(params: JsonObject, withdrawn: AbortSignal): Promise<RequestPermissionResponse>;
  /** An `elicitation/create`, as above. */
  onElicitation(params: JsonObject, withdrawn: AbortSignal): Promise<CreateElicitationResponse>;
}

/** The protocol with one agent, until it is closed or its program ends. */
export interface Connection {
  readonly agent: ClientContext;
  close(): void;
}

/** An agent that says more than this in one message is ended; in UTF-16 code units. */
const MESSAGE_LIMIT = 16 * 1024 ** 2;

/**
 * The protocol's own connection on a program's standard streams. It hands messages on by promises, which blurs the order of
 * updates, questions and answers; so every message is heard here first, as its line is read. Updates go no further: theirs is
 * foreign data, and one that the protocol's schema does not know must not be lost.
 */
export async function connect({ child, endFor }: AgentProcess, listener: Listener): Promise<Connection> {
  // Its schemas cost a daemon that drives no such agent tens of megabytes.
  const { client } = await import("@agentclientprotocol/sdk");
  const permissions = new Map<unknown, Promise<RequestPermissionResponse>>();
  const elicitations = new Map<unknown, Promise<CreateElicitationResponse>>();
  const withdrawals = new Map<unknown, AbortController>();

  const hear = (message: JsonObject): boolean => {
    const method = asString(message.method);
    if (method === undefined) return true;
    const params = asObject(message.params) ?? {};
    if ((method === REQUEST_PERMISSION || method === ELICITATION) && message.id !== undefined) {
      const withdrawal = new AbortController();
      withdrawals.set(message.id, withdrawal);
      if (method === ELICITATION)
        elicitations.set(message.id, listener.onElicitation(params, withdrawal.signal));
      else permissions.set(message.id, listener.onPermission(params, withdrawal.signal));
      return true;
    }
    if (method === UPDATE) listener.onUpdate(params);
    else if (method === CANCEL_REQUEST) withdrawals.get(params.requestId)?.abort();
    else listener.onUnknown(message);
    return message.id !== undefined;
  };

  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      const decoder = new StringDecoder("utf8");
      const cutter = createLineCutter();
      let isClosed = false;
      const readLine = (line: string): void => {
        if (line.trim() === "") return;
        const message = parse(line);
        if (message === undefined) {
          listener.onNoise(line);
          return;
        }
        let isForwarded = true;
        try {
          isForwarded = hear(message);
        } catch {
          // A message that cannot be dealt with (nested beyond the stack, say) costs itself, not the daemon.
          listener.onNoise(line);
        }
        // What is no JSON-RPC is refused by the connection itself.
        if (isForwarded) controller.enqueue(message as AnyMessage);
      };
      // Nobody catches what is thrown where a stream is heard: it would end the daemon.
      const guarded = (hearIt: () => void): void => {
        try {
          hearIt();
        } catch (error) {
          endFor(`what it sent could not be recorded (${errorText(error)})`);
        }
      };
      child.stdout.on("data", (bytes: Buffer) =>
        guarded(() => {
          for (const line of cutter.push(decoder.write(bytes))) readLine(line);
          if (cutter.length > MESSAGE_LIMIT) {
            endFor(`it sent a message of more than ${MESSAGE_LIMIT.toLocaleString("en")} characters`);
          }
        }),
      );
      const close = (): void => {
        if (isClosed) return;
        isClosed = true;
        guarded(() => readLine(cutter.end()));
        controller.close();
      };
      child.stdout.once("end", close);
      // A program that never ran has no end.
      if (child.pid === undefined) close();
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      return new Promise((resolve) => {
        // A program that is gone reads nothing; its end is told in its own way.
        child.stdin.write(`${JSON.stringify(message)}\n`, () => resolve());
      });
    },
  });

  const connection = client({ name: "verbatim" })
    .onRequest(
      REQUEST_PERMISSION,
      (params) => params,
      ({ requestId }) => permissions.get(requestId) ?? { outcome: { outcome: "cancelled" as const } },
    )
    .onRequest(
      ELICITATION,
      (params) => params,
      ({ requestId }) => elicitations.get(requestId) ?? { action: "cancel" as const },
    )
    .connect({ readable, writable });
  return { agent: connection.agent, close: () => connection.close() };
}

function parse(line: string): JsonObject | undefined {
  let message: JsonObject | undefined;
  try {
    message = asObject(JSON.parse(line));
  } catch {
    return undefined;
  }
  const params = asObject(message?.params);
  for (const name of ["toolCall", "update"]) {
    const call = asObject(params?.[name]);
    if (call?.rawInput !== undefined) call.rawInput = exactInput(line, name, call.rawInput);
  }
  return message;
}

// What Node has of it, and TypeScript's library does not know yet.
const { parse: parseWith, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
};

/** A number that JavaScript may write otherwise: of many digits, with an exponent, `1.0`, `0.0000001` or `-0`. */
const INEXACT = /\d[\d.]{15}|\d[eE]|\.\d*0(?!\d)|\.0{6}|-0(?![.\d])/;

/** A call's arguments whose numbers are written again as the agent wrote them, whatever JavaScript makes of them. */
function exactInput(line: string, name: string, input: unknown): unknown {
  try {
    // Nothing else of a message is looked at number by number: its output may be long, and everybody waits meanwhile.
    const text = new RawJson(line).at(["params", name, "rawInput"]);
    if (text === undefined || !INEXACT.test(text)) return input;
    return parseWith(text, (_key, value, { source }) =>
      typeof value === "number" && source !== undefined && JSON.stringify(value) !== source
        ? rawJSON(source)
        : value,
    );
  } catch {
    // Nested beyond the stack, which it is told of where it is heard.
    return input;
  }
}
