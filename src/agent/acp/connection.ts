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

/** Receives the agent's messages in order, before any later reply is handled. */
export interface Listener {
  /** A `session/update`. */
  onUpdate(params: JsonObject): void;
  /** An unknown notification, or a request for a capability that was not offered. */
  onUnknown(message: JsonObject): void;
  /** A line that is not a message. */
  onNoise(line: string): void;
  /** A `session/request_permission`. `withdrawn` is aborted when the agent cancels it. Never rejects. */
  onPermission(params: JsonObject, withdrawn: AbortSignal): Promise<RequestPermissionResponse>;
  /** An `elicitation/create`. `withdrawn` is aborted when the agent cancels it. Never rejects. */
  onElicitation(params: JsonObject, withdrawn: AbortSignal): Promise<CreateElicitationResponse>;
}

/** A connection to one agent. Lasts until it is closed or the program exits. */
export interface Connection {
  readonly agent: ClientContext;
  close(): void;
}

/**
 * Sends a request to the agent. The result is foreign data and must be narrowed. Aborting the signal cancels the request and
 * rejects immediately, because an agent may take long to answer a cancelled request.
 */
export function request(
  { connection }: { readonly connection: Connection },
  method: string,
  params: unknown,
  cancellationSignal?: AbortSignal,
): Promise<unknown> {
  return connection.agent.request<unknown>(
    method,
    params,
    cancellationSignal && { cancellationSignal, stopWaitingOnCancel: true },
  );
}

/** Maximum length of a message, in UTF-16 code units. An agent that exceeds it is killed. */
const MESSAGE_LIMIT = 16 * 1024 ** 2;

/**
 * Creates the SDK's connection on a program's standard streams. The SDK delivers messages through promises, which does not
 * preserve the order of updates, requests and replies, so each message is handled here first, when its line is read. Updates are
 * not passed on to the SDK, because it drops those that do not match its schema.
 */
export async function connect({ child, killFor }: AgentProcess, listener: Listener): Promise<Connection> {
  // Loaded on demand, because its schemas take tens of megabytes of memory.
  const { client } = await import("@agentclientprotocol/sdk");
  const permissions = new Map<unknown, Promise<RequestPermissionResponse>>();
  const elicitations = new Map<unknown, Promise<CreateElicitationResponse>>();
  const withdrawals = new Map<unknown, AbortController>();

  const handle = (message: JsonObject): boolean => {
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
          isForwarded = handle(message);
        } catch {
          // A message that cannot be handled (for example, one nested too deeply) must not crash the daemon.
          listener.onNoise(line);
        }
        // The SDK rejects lines that are not JSON-RPC.
        if (isForwarded) controller.enqueue(message as AnyMessage);
      };
      // An error thrown in a stream's listener would crash the daemon.
      const guarded = (deliver: () => void): void => {
        try {
          deliver();
        } catch (error) {
          killFor({ reason: errorText(error) });
        }
      };
      child.stdout.on("data", (bytes: Buffer) =>
        guarded(() => {
          for (const line of cutter.push(decoder.write(bytes))) readLine(line);
          if (cutter.length > MESSAGE_LIMIT) killFor({ characters: MESSAGE_LIMIT });
        }),
      );
      const close = (): void => {
        if (isClosed) return;
        isClosed = true;
        guarded(() => readLine(cutter.end()));
        controller.close();
      };
      child.stdout.once("end", close);
      // A program that could not be started never ends its output.
      if (child.pid === undefined) close();
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      return new Promise((resolve) => {
        // Errors are ignored: an exited program reads nothing, and its exit is reported separately.
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

// Node supports these members, but TypeScript's library does not declare them yet.
const { parse: parseWith, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
};

/** Numbers whose text JavaScript may change: with many digits or an exponent, `1.0`, `0.0000001` or `-0`. */
const INEXACT = /\d[\d.]{15}|\d[eE]|\.\d*0(?!\d)|\.0{6}|-0(?![.\d])/;

/** A call's arguments with the numbers exactly as the agent wrote them. */
function exactInput(line: string, name: string, input: unknown): unknown {
  try {
    // Only arguments are preserved exactly, because output can be long and this blocks the daemon.
    const text = new RawJson({ text: line }).at(["params", name, "rawInput"]);
    if (text === undefined || !INEXACT.test(text)) return input;
    return parseWith(text, (_key, value, { source }) =>
      typeof value === "number" && source !== undefined && JSON.stringify(value) !== source
        ? rawJSON(source)
        : value,
    );
  } catch {
    // The input is nested too deeply, which the handler of the message reports.
    return input;
  }
}
