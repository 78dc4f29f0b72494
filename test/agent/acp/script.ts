import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** One line of a player's script: see player.mjs. */
export type ScriptLine = Record<string, unknown>;

const SESSION_ID = "agents-own-session";

/** Messages that are expected from the client. */
export const hears = {
  initialize: client({ id: 0, method: "initialize" }),
  newSession: client({ id: 1, method: "session/new" }),
  load: client({ id: 1, method: "session/load", params: { sessionId: SESSION_ID } }),
  resume: client({ id: 1, method: "session/resume", params: { sessionId: SESSION_ID } }),
  prompt: (id: number) => client({ id, method: "session/prompt" }),
  cancel: client({ method: "session/cancel" }),
  cancelRequest: client({ method: "$/cancel_request" }),
  setOption: (id: number) => client({ id, method: "session/set_config_option" }),
  close: (id: number) => client({ id, method: "session/close", params: { sessionId: SESSION_ID } }),
  answer: (id: number) => client({ id, result: {} }),
};

/** Messages of the agent. */
export const says = {
  hello: (capabilities: object = {}) =>
    agent({
      id: 0,
      result: {
        protocolVersion: 1,
        agentInfo: { name: "scripted", version: "1.0" },
        agentCapabilities: capabilities,
      },
    }),
  session: agent({ id: 1, result: { sessionId: SESSION_ID } }),
  loaded: agent({ id: 1, result: {} }),
  result: (id: number, result: object = { stopReason: "end_turn" }) => agent({ id, result }),
  error: (id: number, error: object) => agent({ id, error }),
  update: (sessionUpdate: string, fields: object = {}) =>
    agent({
      method: "session/update",
      params: { sessionId: SESSION_ID, update: { sessionUpdate, ...fields } },
    }),
  text: (text: string, fields: object = {}) =>
    says.update("agent_message_chunk", { content: { type: "text", text }, ...fields }),
  thought: (text: string, fields: object = {}) =>
    says.update("agent_thought_chunk", { content: { type: "text", text }, ...fields }),
  cost: (amount: number) =>
    says.update("usage_update", { used: 1000, size: 200_000, cost: { amount, currency: "USD" } }),
  permission: (id: number, toolCall: object, options: object[] = OPTIONS) =>
    agent({
      id,
      method: "session/request_permission",
      params: { sessionId: SESSION_ID, toolCall, options },
    }),
  /** Asks the user to fill in a form. */
  form: (id: number, requestedSchema: object, fields: object = {}) =>
    agent({
      id,
      method: "elicitation/create",
      params: { sessionId: SESSION_ID, mode: "form", message: "Deploy", requestedSchema, ...fields },
    }),
  /** Prints the client's reply to a request, as JSON. */
  reply: (id: number): ScriptLine => ({ do: "reply", id, sessionId: SESSION_ID }),
  notification: (method: string, params: object) => agent({ method, params }),
};

export const OPTIONS = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];

/** A request that a scripted agent answers, in each process and as often as it comes. */
export interface Route {
  method: string;
  /** Parameters that the request has. `null`: it has none of that name. */
  params?: object;
  /** Lines of `says`. Those with a result or an error answer the request. */
  says: readonly ScriptLine[];
}

/** A script that answers requests in any order. */
export const serves = (routes: readonly Route[]): ScriptLine[] => [
  {
    do: "serve",
    routes: routes.map(({ says, ...route }) => ({ ...route, says: says.map(({ message }) => message) })),
  },
];

/** A session that is open, before its first prompt. */
export const opened = [hears.initialize, says.hello(), hears.newSession, says.session];

function client(message: object): ScriptLine {
  return { from: "client", message: { jsonrpc: "2.0", ...message } };
}
function agent(message: object): ScriptLine {
  return { from: "agent", message: { jsonrpc: "2.0", ...message } };
}

/** Writes a script. Returns the arguments with which the player plays it. */
export function writeScript(folder: string, name: string, lines: readonly ScriptLine[]): string[] {
  const path = join(folder, `${name}.jsonl`);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return [join(import.meta.dirname, "player.mjs"), path];
}
