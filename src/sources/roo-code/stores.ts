import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { namesOf } from "../conversation/paths.ts";
import { type ListDocument, readList } from "../documents/document.ts";
import { parseObject } from "../lines/parse-object.ts";

// A task's folder. `api_conversation_history.json` is the conversation with the model. `ui_messages.json` has the messages
// shown to the person: mostly the same, and also tokens, errors and compactions. `history_item.json` and `task_metadata.json`
// contain facts about the task. All are rewritten at each change.

const UI = "ui_messages.json";
const FILE = new RegExp(
  `^(.+)/(?:api_conversation_history|claude_messages|${UI.slice(0, -5)}|history_item|task_metadata)\\.json$`,
);

/** The folder of a task, from the path of one of its files. */
export const storeOf = (path: string): string | undefined => FILE.exec(path)?.[1];

/** The store's folder. A person may also open one of its files by name. */
const folderOf = (store: OpenStore): string => storeOf(store.path) ?? store.path;

/** Whether the folder contains a task, by the first item of a message list. */
export function hasTask(store: OpenStore): boolean {
  const folder = folderOf(store);
  const first = asObject(readList(store, `${folder}/${UI}`)?.items[0]);
  if (first !== undefined) return asNumber(first.ts) !== undefined && /^(?:ask|say)$/.test(`${first.type}`);
  return FILE.test(store.path) && conversationOf(store, folder) !== undefined;
}

function conversationOf(store: OpenStore, folder: string): { file: string; list: ListDocument } | undefined {
  for (const name of ["api_conversation_history.json", "claude_messages.json"]) {
    const file = `${folder}/${name}`;
    const list = readList(store, file);
    if (list !== undefined) return { file, list };
  }
  return undefined;
}

/** The task of a folder, as one session. */
export function* taskSessions(store: OpenStore): Generator<SnapshotSession> {
  const folder = folderOf(store);
  const name = namesOf(folder).at(-1) ?? folder;
  const times = ["api_conversation_history.json", "claude_messages.json", UI, "history_item.json"].map(
    (file) => store.modifiedAt(`${folder}/${file}`) ?? 0,
  );
  const item = parseObject(store.readText(`${folder}/history_item.json`) ?? "") ?? {};
  const conversation = conversationOf(store, folder);
  const ui = readList(store, `${folder}/${UI}`);
  // Both lists are written right at the start of a task. The shown messages exist alone only if the other list is lost.
  if (conversation === undefined && !asArray(ui?.items).some(isAnswered)) return;
  yield {
    name,
    kind: asText(item.parentTaskId) === undefined ? "session" : "run",
    stamp: times.join(" "),
    modified_at: Math.max(...times),
    *records() {
      yield headOf(store, folder, name, { item, alone: conversation === undefined });
      const ui_messages = messagesOf("ui", `${folder}/${UI}`, ui);
      if (conversation === undefined) yield* ui_messages.map(({ record }) => record);
      else yield* merged(messagesOf("message", conversation.file, conversation.list), ui_messages);
    },
  };
}

/** Whether a message is a model request with tokens, and so was answered. */
function isAnswered(message: unknown): boolean {
  const value = asObject(message);
  return value?.say === "api_req_started" && parseObject(asString(value.text) ?? "")?.tokensOut !== undefined;
}

function headOf(
  store: OpenStore,
  folder: string,
  name: string,
  { item, alone }: { item: JsonObject; alone: boolean },
): SnapshotRecord {
  const metadata = parseObject(store.readText(`${folder}/task_metadata.json`) ?? "");
  const usage = asObject(asArray(metadata?.model_usage).at(-1));
  // Omit running totals: they would create a new head revision at each request.
  const head = {
    name,
    alone,
    workspace: item.workspace ?? item.cwdOnTaskInitialization,
    title: item.title,
    mode: item.mode,
    parentTaskId: item.parentTaskId,
    rootTaskId: item.rootTaskId,
    model: usage?.model_id,
  };
  const file = `${folder}/history_item.json`;
  return { key: "head", place: { kind: "document", file, pointer: "" }, text: JSON.stringify(head) };
}

interface Message {
  record: SnapshotRecord;
  ts: number | undefined;
  value: JsonObject;
}

/** The messages of a list by time: after a restored checkpoint, a task continues with other messages at the same indexes. */
function messagesOf(kind: string, file: string, list: ListDocument | undefined): Message[] {
  const keys = new Map<string, number>();
  return asArray(list?.items).map((item, index) => {
    // Roo Code marks messages that a summary replaces. The marks are removed, so that the messages do not change.
    const { condenseParent: _, truncationParent: __, ...value } = asObject(item) ?? { raw: item };
    const ts = asNumber(value.ts);
    const key = `${kind}:${ts ?? index}`;
    const copies = keys.get(key) ?? 0;
    keys.set(key, copies + 1);
    const pointer = list?.pointerOf(index) ?? "";
    return {
      record: {
        key: copies === 0 ? key : `${key}#${copies}`,
        place: { kind: "document", file, pointer },
        text: JSON.stringify(value),
      },
      ts,
      value,
    };
  });
}

/**
 * Both lists merged by time. Messages of older versions have no times: each answer then follows its request and precedes the
 * next shown message.
 */
function* merged(messages: readonly Message[], ui_messages: readonly Message[]): Generator<SnapshotRecord> {
  let next = 0;
  function* until(isEnd: (message: Message) => boolean): Generator<SnapshotRecord> {
    for (let one = ui_messages[next]; one !== undefined && !isEnd(one); one = ui_messages[next]) {
      next += 1;
      yield one.record;
    }
  }
  const isRequest = ({ value }: Message): boolean => value.say === "api_req_started";
  for (const { record, ts, value } of messages) {
    if (ts !== undefined) yield* until((one) => one.ts !== undefined && one.ts >= ts);
    else {
      yield* until(isRequest);
      const request = value.role === "assistant" ? ui_messages[next] : undefined;
      if (request !== undefined) {
        next += 1;
        yield request.record;
      }
    }
    yield record;
  }
  yield* until(() => false);
}
