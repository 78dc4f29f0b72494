import { asArray, asNumber, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { sourceTitle } from "../../model/text/source-titles.ts";
import { uuidFrom } from "../../model/uuid.ts";
import { emitMessage, isMessage } from "../chat-messages/reader.ts";
import type { OpenStore, RecordResult, SessionRecord, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { emitBlocks, emitCall } from "../conversation/blocks.ts";
import { resultContent, timeOf } from "../conversation/content.ts";
import { Conversation, initialConversation } from "../conversation/conversation.ts";
import { conversationReader } from "../conversation/conversation-reader.ts";
import { firstMembers } from "../conversation/head.ts";
import { stemOf } from "../conversation/paths.ts";
import { type Document, readDocument } from "../documents/document.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { emitMini, type MiniState, writtenAt } from "./mini.ts";

/** State of a trajectory between records. */
interface SweState extends MiniState {
  named: boolean;
  mini: boolean;
}

/**
 * Reads SWE-agent's `.traj` and mini-SWE-agent's `.traj.json`. Records: `head`; `message:<index>` for messages before the first
 * step, or for all messages if there are no steps; `step:<index>`, an action with its thought and observation; `end`.
 */
const reader = conversationReader<SweState>({
  initialState: ({ path }) => ({
    conversation: initialConversation(uuidFrom("swe-agent", path)),
    named: false,
    mini: false,
    plain: false,
    waiting: [],
  }),
  read(state, record) {
    const { key } = record;
    if (key === "head") return readHead(state, record);
    const conversation = new Conversation(state.conversation, record, {
      at: timeOf(writtenAt(record.value)),
    });
    if (key === "end") return readEnd(conversation, record.value);
    if (key.startsWith("step:")) emitStep(state, conversation, record);
    else if (record.value.is_demo === true) emitDemonstration(conversation, record.value);
    else if (state.mini) emitMini(state, conversation, record);
    else emitMessage(conversation, key, record.value, record);
    return conversation.result({ kind: "hidden", rule: "empty message" });
  },
});

function readHead(state: SweState, record: SessionRecord): RecordResult {
  const { value } = record;
  const name = asText(value.name);
  if (!state.named && name !== undefined) state.conversation.session_id = uuidFrom("swe-agent", name);
  state.named = true;
  const version = asText(value.trajectory_format);
  state.mini = version !== undefined;
  state.plain = version === "mini-swe-agent-1";
  const model = asText(value.model);
  if (model !== undefined) state.model = model;
  const conversation = new Conversation(state.conversation, record);
  const title = asText(value.title);
  const agent_version = asText(value.version);
  conversation.update({
    agent: "swe-agent",
    title,
    model,
    agent_version,
  });
  return conversation.result({ kind: "folded", into: "the session" });
}

/** Emits a demonstration before the task as context: the agent did not do it. */
function emitDemonstration(conversation: Conversation, message: JsonObject): void {
  const { output_text } = resultContent(message.content);
  conversation.context(sourceTitle("demonstration", { role: asText(message.role) }), [
    { type: "text", text: output_text },
  ]);
}

/** Reads one entry of `trajectory`: the model's output, the action and its result. */
function emitStep(state: SweState, conversation: Conversation, record: SessionRecord): void {
  const { value } = record;
  const action = asText(value.action);
  const output = asText(value.thought) ?? (action === undefined ? asText(value.response) : undefined);
  conversation.step(record.key, state.model === undefined ? {} : { model: state.model });
  emitBlocks(
    conversation,
    asArray(value.thinking_blocks).map((block) => asObject(block) ?? {}),
  );
  if (output !== undefined) conversation.text(output);
  const calls = asArray(value.tool_calls)
    .map(asObject)
    .filter((call) => call !== undefined);
  const ids: string[] = [];
  for (const call of calls) {
    const inner = asObject(call.function) ?? call;
    const id = asText(call.id);
    emitCall(conversation, { id, name: asText(inner.name), input: inner.arguments });
    if (id !== undefined) ids.push(id);
  }
  if (calls.length === 0 && action !== undefined) {
    const id = `action:${record.key}`;
    emitCall(conversation, { id, name: "action", input: { command: action } });
    ids.push(id);
  }
  conversation.endStep();
  const [first] = ids;
  if (first === undefined || value.observation === undefined) return;
  const seconds = asNumber(value.execution_time);
  const duration_ms = seconds === undefined ? undefined : Math.round(seconds * 1_000);
  const command = action === undefined ? {} : { command: action };
  conversation.toolResult({
    id: first,
    status: "success",
    ...resultContent(value.observation),
    payload: (call) =>
      calls.length === 0
        ? { type: "shell", ...command, ...(duration_ms !== undefined && { duration_ms }) }
        : call,
  });
}

/** Reads `info`: the run's end, cost and submission. */
function readEnd(conversation: Conversation, info: JsonObject): RecordResult {
  const stats = asObject(info.model_stats) ?? {};
  const status = asText(info.exit_status);
  const figures = [
    number("tokens in", stats.tokens_sent),
    number("tokens out", stats.tokens_received),
    number("model calls", stats.api_calls),
    number("US dollars", stats.instance_cost),
  ].flatMap((figure) => figure ?? []);
  const submission = asText(info.submission);
  const text = [figures.join(", "), submission ?? ""].filter((part) => part !== "").join("\n\n");
  const isFailed =
    status !== undefined &&
    /error|fail|exit_(?:cost|context|format|api|environment|total)|limit/i.test(status);
  if (status !== undefined || text !== "")
    conversation.marker("note", sourceTitle("run_ended", { status }), text);
  conversation.endTurn(isFailed ? "failed" : "completed");
  return conversation.result({ kind: "folded", into: "the end of its turn" });
}

function number(name: string, value: unknown): string | undefined {
  const figure = asNumber(value);
  return figure === undefined ? undefined : `${figure} ${name}`;
}

function isOwn(document: JsonObject | undefined): boolean {
  if (document === undefined) return false;
  const own = document.trajectory === undefined ? asObject(asArray(document.attempts)[0]) : document;
  const steps = asObject(asArray(own?.trajectory)[0]);
  if (steps !== undefined && ("action" in steps || "observation" in steps)) return true;
  return isMini(document);
}

const isMini = (document: JsonObject): boolean =>
  asText(document.trajectory_format)?.startsWith("mini-swe-agent") ?? false;

/** A run in a document: the document itself, or one of its `attempts`. */
interface Run {
  value: JsonObject;
  path: (string | number)[];
  name: string;
  title: string;
}

/**
 * The runs of a document. An agent that retries writes all attempts, and once it has chosen, the best one again as the document
 * itself. Source: `RetryAgent.get_trajectory_data` in `sweagent/agent/agents.py`.
 */
function runsOf({ path, value }: Document): Run[] {
  const title = stemOf(path).replace(/\.traj$/, "");
  const attempts = asArray(value.attempts);
  const isChosen = value.trajectory !== undefined || attempts.length === 0;
  const best = asNumber(asObject(value.info)?.best_attempt_idx);
  const others = attempts.flatMap((item, index): Run[] => {
    const attempt = asObject(item);
    if (attempt === undefined || (isChosen && index === best)) return [];
    const name = `${path}#attempts#${index}`;
    return [{ value: attempt, path: ["attempts", index], name, title: `${title} #${index + 1}` }];
  });
  return isChosen ? [{ value, path: [], name: path, title }, ...others] : others;
}

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const document = readDocument(store, store.path);
  if (document === undefined || !isOwn(document.value)) return;
  for (const run of runsOf(document))
    yield {
      name: run.name,
      kind: "session",
      modified_at: store.modifiedAt(store.path) ?? 0,
      records: () => recordsOf(document, run),
    };
}

function* recordsOf(document: Document, { value: run, path, name, title }: Run): Generator<SnapshotRecord> {
  const { trajectory, history, messages, info, replay_config, environment } = run;
  const trajectory_format = isMini(run) ? run.trajectory_format : undefined;
  const config = asObject(asObject(info)?.config);
  const agent = asObject(config?.model) ?? asObject(asObject(asObject(replay_config)?.agent)?.model);
  const place = document.record("head", path, {}).place;
  const head = {
    name,
    title,
    environment: typeof environment === "string" ? environment : undefined,
    trajectory_format,
    model: asText(agent?.model_name) ?? asText(agent?.name),
    version: asText(asObject(info)?.swe_agent_version) ?? asText(asObject(info)?.mini_version),
  };
  yield { key: "head", place, text: JSON.stringify(head) };
  const steps = asArray(trajectory);
  const list = asArray(steps.length > 0 ? history : messages);
  const listName = steps.length > 0 ? "history" : "messages";
  const answers = list.filter(
    (item) => asObject(item)?.role === "assistant" && asObject(item)?.is_demo !== true,
  );
  for (const [index, message] of list.entries()) {
    const isAnswer = asObject(message)?.role === "assistant" && asObject(message)?.is_demo !== true;
    if (steps.length > 0 && isAnswer) break;
    if (isMessage(message) || (trajectory_format !== undefined && asObject(message) !== undefined))
      yield document.record(`message:${index}`, [...path, listName, index], message);
  }
  for (const [index, step] of steps.entries()) {
    // The history contains the calls and signed thoughts: one answer per step if it is complete.
    const answer = answers.length === steps.length ? asObject(answers[index]) : undefined;
    const { tool_calls, thinking_blocks } = answer ?? {};
    const { query: _, messages: __, ...own } = asObject(step) ?? {};
    const value = {
      ...own,
      ...(Array.isArray(tool_calls) && { tool_calls }),
      ...(Array.isArray(thinking_blocks) && { thinking_blocks }),
    };
    yield {
      ...document.record(`step:${index}`, [...path, "trajectory", index], {}),
      text: JSON.stringify(value),
    };
  }
  const { config: _, ...end } = asObject(info) ?? {};
  yield { key: "end", place: document.record("end", [...path, "info"], {}).place, text: JSON.stringify(end) };
}

/** SWE-agent's trajectories, which have no usual folder. */
export const sweAgent = recordLinesFormat({
  id: "swe-agent",
  name: "SWE-agent trajectory",
  classify: () => undefined,
  detect: (head) => isOwnHead(head),
  snapshots: {
    storeOf: (path) => (/\.traj(?:\.json)?$/.test(path) ? path : undefined),
    recognizes: (store) => isOwn(readDocument(store, store.path)?.value),
    sessions,
  },
  reader,
});

/** Whether a possibly truncated head contains the first entry of `trajectory`, or the format's name. */
function isOwnHead(head: Uint8Array): boolean {
  const members = firstMembers(head);
  if (members === undefined) return false;
  if (isOwn(members)) return true;
  const text = new TextDecoder().decode(head);
  return (
    (/"trajectory"\s*:\s*\[\s*\{/.test(text) && /"(?:action|observation)"\s*:/.test(text)) ||
    /"trajectory_format"\s*:\s*"mini-swe-agent/.test(text)
  );
}
