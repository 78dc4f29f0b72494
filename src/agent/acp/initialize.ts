import { asObject, type JsonObject } from "../../model/narrow.ts";
import { type Connection, request } from "./connection.ts";
import { AGENT_REQUESTS, PROTOCOL_VERSION } from "./methods.ts";

/** What an agent announces in its reply to `initialize`. */
export interface Announced {
  /** The agent's name and version. */
  readonly info: JsonObject | undefined;
  readonly capabilities: JsonObject;
  /** The session methods that the agent supports besides `session/new`. */
  readonly can: { readonly [Method in "load" | "list" | "resume" | "close"]: boolean };
  readonly auth_methods: unknown;
}

/** Sends `initialize`, the first request of a connection. */
export async function initialize(connection: Connection, signal?: AbortSignal): Promise<Announced> {
  const hello = asObject(
    await request(
      { connection },
      AGENT_REQUESTS.initialize,
      {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
          elicitation: { form: {} },
        },
        clientInfo: { name: "verbatim", version: "1" },
      },
      signal,
    ),
  );
  const capabilities = asObject(hello?.agentCapabilities) ?? {};
  // A supported method is announced by an object, which may be empty.
  const methods = asObject(capabilities.sessionCapabilities);
  return {
    info: asObject(hello?.agentInfo),
    capabilities,
    can: {
      load: capabilities.loadSession === true,
      list: asObject(methods?.list) !== undefined,
      resume: asObject(methods?.resume) !== undefined,
      close: asObject(methods?.close) !== undefined,
    },
    auth_methods: hello?.authMethods,
  };
}
