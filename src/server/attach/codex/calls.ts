import { asObject, asString, type JsonObject } from "../../../model/narrow.ts";
import { daemonText } from "../../../model/text/daemon-texts.ts";
import { InputRefused } from "../terminal-input.ts";

/** The outcome of a call: its result, or the reason why there is none. */
type Reply = { result: JsonObject } | { problem: string };

/** The calls to Codex's app server that wait for their replies. */
export interface Calls {
  /** Calls a method. `undefined`: it failed. */
  ask(method: string, params: JsonObject): Promise<JsonObject | undefined>;
  /** Calls a method. Throws an error with the server's message. */
  callOrThrow(method: string, params: JsonObject): Promise<JsonObject>;
  /** Passes a reply to the call that waits for it. */
  readReply(message: JsonObject): void;
  /** Ends all calls, because the server ended. */
  end(): void;
}

/** Sends calls and matches replies to them. */
export function createCalls(send: (message: JsonObject) => void): Calls {
  const replies = new Map<number, (reply: Reply) => void>();
  let next_id = 1;

  function call(method: string, params: JsonObject): Promise<Reply> {
    const id = next_id++;
    send({ id, method, params });
    return new Promise((resolve) => replies.set(id, resolve));
  }

  async function ask(method: string, params: JsonObject): Promise<JsonObject | undefined> {
    const reply = await call(method, params);
    return "result" in reply ? reply.result : undefined;
  }

  async function callOrThrow(method: string, params: JsonObject): Promise<JsonObject> {
    const reply = await call(method, params);
    if ("problem" in reply)
      throw new InputRefused(daemonText("agent_refused", { agent: "Codex", reason: reply.problem }));
    return reply.result;
  }

  return {
    ask,
    callOrThrow,
    readReply({ id, result, error }) {
      const resolve = typeof id === "number" ? replies.get(id) : undefined;
      if (typeof id === "number") replies.delete(id);
      const problem = asString(asObject(error)?.message);
      resolve?.(problem === undefined ? { result: asObject(result) ?? {} } : { problem });
    },
    end() {
      for (const resolve of replies.values()) resolve({ problem: "its app server ended" });
      replies.clear();
    },
  };
}
