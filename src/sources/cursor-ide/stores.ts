import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { OpenStore, Row, SnapshotRecord, SnapshotSession, Snapshots } from "../contract.ts";
import { timeOf } from "../conversation/content.ts";
import { changeOf } from "../conversation/content-change.ts";
import { inputOf } from "../conversation/tool-payload.ts";
import { parseObject } from "../lines/parse-object.ts";
import { hasTable } from "../tables/tables.ts";
import { createFolders, type Folders, type ListEntry, listEntries, workspaceOf } from "./folders.ts";

/**
 * The conversations of the editor Cursor, all in `globalStorage/state.vscdb`, table `cursorDiskKV`: `composerData:<id>` has the
 * facts and the order of a conversation, `bubbleId:<id>:<bubble>` one message, thought or tool call each, and
 * `composer.content.<hash>` the contents of edited files. The keys `checkpointId:`, `codeBlockDiff:`, `messageRequestContext:`,
 * `inlineDiff…`, `ofsContent:` and `agentKv:` are copies for Cursor's own use and are not read.
 *
 * Cursor publishes no schema, and no complete real file was at hand. The shape is that of independent decoders: SpecStory
 * (`specstoryai/getspecstory`, `specstory-cli/pkg/providers/cursoride`: `CURSORIDE-FORMAT.md`, `types.go`, `agent_session.go`,
 * `tool_write.go`), toolpath (`empathic/toolpath`, `docs/agents/formats/cursor.md`, Cursor 3.6), `michaeldhood/chatrxiv`
 * (`docs/cursor/storage-reference.md`), and public notes on databases of 2025 and of Cursor 3.13. They agree except where said.
 * Compared with public rows: a redacted database of May 2026 (`eric-tramel/moraine`, `fixtures/cursor/state-vscdb-kv.jsonl`), and
 * single messages of 2025 and of Cursor 3.17.8.
 */
export const conversations: Snapshots = {
  storeOf: (path) => /^((?:.*[\\/])?globalStorage[\\/]state\.vscdb)(?:-wal|-shm|-journal)?$/.exec(path)?.[1],
  recognizes: (store) =>
    hasTable(store, TABLE, ["key", "value"]) &&
    [...store.rows(`SELECT 1 FROM ${TABLE} WHERE ${RANGE} LIMIT 1`, ...rangeOf(CONVERSATION))].length > 0,
  sessions,
  // Its folders belong to extensions.
  mayContainStores: () => false,
};

const TABLE = "cursorDiskKV";
const CONVERSATION = "composerData:";
const BUBBLE = "bubbleId:";
/** A range of keys uses the index, which `LIKE` does not. */
const RANGE = "key >= ? AND key < ?";
const rangeOf = (prefix: string): [string, string] => [prefix, `${prefix.slice(0, -1)};`];

/** The last bubble. */
const LAST = "fullConversationHeadersOnly[#-1].bubbleId";
/** Members of a conversation that are read for the list of sessions. */
const FACTS = [
  LAST,
  "createdAt",
  "lastUpdatedAt",
  "conversationCheckpointLastUpdatedAt",
  "status",
  "isArchived",
  "isBestOfNSubcomposer",
  "subagentInfo",
  "subagentComposerIds",
] as const;

/** A conversation as far as the list needs it. */
interface Listed {
  id: string;
  /** Changes with the row: Cursor replaces it at each change. */
  version: string;
  facts: JsonObject;
  /** Number of bubbles that it contains, as in older versions. */
  inside: number | undefined;
}

/** The rows of a conversation's bubbles, from the index alone. */
interface Figures {
  count: number;
  latest: number;
  sum: number;
}

/** Number of conversations with the newest rows whose bubbles are also compared by size, in case they are changed in place. */
const COMPARED = 8;

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  if (!hasTable(store, TABLE, ["key", "value"])) return;
  const all = listedIn(store);
  const figures = figuresIn(store);
  const sizes = sizesOf(store, figures);
  const entries = listEntries(store);
  const parents = parentsIn(all);
  const folders = createFolders(store);
  for (const conversation of all) {
    const { id, version, facts, inside } = conversation;
    const rows = figures.get(id);
    if (rows === undefined && (inside ?? 0) === 0) continue;
    const entry = entries.get(id) ?? {};
    const parent = parents.get(id);
    const archived = entry.archived ?? facts.isArchived === true;
    const { active_at: _, ...listed } = entry;
    yield {
      name: id,
      kind: parent?.id === undefined ? "session" : "run",
      stamp: JSON.stringify([version, rows, sizes.get(id), listed, parent]),
      // Computed only for a conversation that has changed.
      get modified_at() {
        return modifiedAt(store, conversation, entry);
      },
      ...(archived && { archived }),
      records: () => recordsOf(store, id, { entry, parent, folders }),
    };
  }
}

/** Cursor does not update the times of a conversation at each change. */
function modifiedAt(store: OpenStore, { id, facts }: Listed, entry: ListEntry): number {
  const last = asText(facts[LAST]);
  const bubble = last === undefined ? undefined : parseObject(textAt(store, `${BUBBLE}${id}:${last}`) ?? "");
  const times = [
    bubble?.createdAt,
    facts.createdAt,
    facts.lastUpdatedAt,
    facts.conversationCheckpointLastUpdatedAt,
    entry.active_at,
    facts.status === "generating" ? store.modifiedAt(`${store.path}-wal`) : undefined,
  ];
  return Math.max(...times.map((time) => timeOf(time) ?? 0));
}

function listedIn(store: OpenStore): Listed[] {
  const paths = FACTS.map((name) => `'$.${name}'`).join(", ");
  const rows = store.rows(
    `SELECT key, version, CASE WHEN valid THEN json_extract(text, ${paths}) END AS facts,
       CASE WHEN valid THEN json_array_length(text, '$.conversation') END AS inside
     FROM (SELECT key, rowid || '.' || octet_length(value) AS version, CAST(value AS TEXT) AS text,
       json_valid(CAST(value AS TEXT)) AS valid FROM ${TABLE} WHERE ${RANGE} AND value IS NOT NULL)`,
    ...rangeOf(CONVERSATION),
  );
  return [...rows].map(({ key, version, facts, inside }) => {
    const values = typeof facts === "string" ? asArray(JSON.parse(facts)) : undefined;
    return {
      id: String(key).slice(CONVERSATION.length),
      version: String(version),
      facts: Object.fromEntries(FACTS.map((name, at) => [name, values?.[at]])),
      inside: asNumber(inside),
    };
  });
}

function figuresIn(store: OpenStore): Map<string, Figures> {
  // Only columns of the index: the rows of a large database are not touched.
  const rows = store.rows(
    `SELECT substr(key, ${BUBBLE.length + 1}, instr(substr(key, ${BUBBLE.length + 1}), ':') - 1) AS id,
       count(*) AS count, max(rowid) AS latest, sum(rowid) AS sum
     FROM ${TABLE} WHERE ${RANGE} GROUP BY id`,
    ...rangeOf(BUBBLE),
  );
  return new Map(
    [...rows].map(({ id, count, latest, sum }) => [
      String(id),
      { count: Number(count), latest: Number(latest), sum: Number(sum) },
    ]),
  );
}

function sizesOf(store: OpenStore, figures: ReadonlyMap<string, Figures>): Map<string, number> {
  const newest = [...figures].sort(([, one], [, other]) => other.latest - one.latest).slice(0, COMPARED);
  return new Map(
    newest.map(([id]) => {
      const sql = `SELECT sum(octet_length(value)) AS size FROM ${TABLE} WHERE ${RANGE}`;
      const [row] = [...store.rows(sql, ...rangeOf(`${BUBBLE}${id}:`))];
      return [id, Number(row?.size ?? 0)];
    }),
  );
}

/** What started a sub-agent. */
interface Parent {
  id?: string;
  tool_call_id?: string;
  name?: string;
}

/** A sub-agent names its parent, or its parent lists it. Its id may name the call that started it: `task-<call>`. */
function parentsIn(all: readonly Listed[]): Map<string, Parent> {
  const parents = new Map<string, Parent>();
  for (const { id, facts } of all) {
    for (const child of asArray(facts.subagentComposerIds))
      if (typeof child === "string") parents.set(child, { id });
  }
  for (const { id, facts } of all) {
    const info = facts.isBestOfNSubcomposer === true ? undefined : asObject(facts.subagentInfo);
    const [, call] = /^task-(.+)$/s.exec(id) ?? [];
    const parent = asText(info?.parentComposerId) ?? parents.get(id)?.id;
    if (parent === undefined && call === undefined) continue;
    const tool_call_id = asText(info?.toolCallId) ?? call;
    const name = asText(info?.subagentTypeName);
    parents.set(id, {
      ...(parent !== undefined && { id: parent }),
      ...(tool_call_id !== undefined && { tool_call_id }),
      ...(name !== undefined && { name }),
    });
  }
  return parents;
}

interface Around {
  entry: ListEntry;
  parent: Parent | undefined;
  folders: Folders;
}

function* recordsOf(store: OpenStore, id: string, around: Around): Generator<SnapshotRecord> {
  const place = (key: string) => ({ kind: "row" as const, file: store.path, table: TABLE, key });
  const text = textAt(store, `${CONVERSATION}${id}`) ?? "";
  const value = parseObject(text);
  const own = place(`${CONVERSATION}${id}`);
  yield { key: "head", place: own, text: JSON.stringify(headOf(id, value ?? {}, around)) };
  if (value === undefined) yield { key: "damaged", place: own, text };
  const listed = value === undefined ? [] : bubblesOf(value);
  const bubbles = listed.length > 0 ? listed : storedBubbles(store, id);
  const summary = summaryOf(value);
  const calls = olderCalls(value);
  const status = asText(value?.status);
  let last: string | undefined;
  let missing: SnapshotRecord[] = [];
  for (const { id: bubble, header, inside } of bubbles) {
    const key = `${BUBBLE}${id}:${bubble}`;
    const stored = textAt(store, key);
    const found = stored ?? (inside && JSON.stringify(inside));
    const record = {
      key: `bubble:${bubble}`,
      place: stored === undefined ? own : place(key),
      ...bubbleRecord(store, found, header, calls?.[bubble]),
    };
    if (found === undefined) {
      missing.push(record);
      continue;
    }
    yield* missing;
    missing = [];
    yield record;
    last = bubble;
    if (summary?.after === bubble) yield { key: `summary:${bubble}`, place: own, text: summary.text };
  }
  // Cursor may list a bubble before it writes it.
  if (status !== "generating") yield* missing;
  // With the last bubble, so that the end of each turn is a change.
  if (status !== undefined) yield { key: "end", place: own, text: JSON.stringify({ status, last }) };
}

function textAt(store: OpenStore, key: string): string | undefined {
  const [row]: Row[] = [...store.rows(`SELECT CAST(value AS TEXT) AS text FROM ${TABLE} WHERE key = ?`, key)];
  const text = asString(row?.text);
  // A removed bubble's row has the value NULL, or the text `null`.
  return text === "null" ? undefined : text;
}

/** Facts of the session. Running totals are left out, because they would create a new head at each change, and so are keys. */
function headOf(id: string, value: JsonObject, { entry, parent, folders }: Around): JsonObject {
  const inside = workspaceOf(value);
  const workspace = inside.workspace ?? entry.workspace;
  return {
    id,
    title: asText(value.name) ?? entry.title,
    createdAt: value.createdAt,
    model: asObject(value.modelConfig)?.modelName,
    branch: value.createdOnBranch,
    folder:
      inside.folder ??
      entry.folder ??
      (workspace === undefined ? folders.ofConversation(id) : folders.ofWorkspace(workspace)),
    parent,
  };
}

/** A bubble in the order of its conversation. */
interface Ordered {
  id: string;
  /** Its entry in the list of bubbles. */
  header: JsonObject;
  /** The bubble, if the conversation contains it. */
  inside?: JsonObject;
}

/** The bubbles by `fullConversationHeadersOnly`; before it by `conversation`, which contains them. */
function bubblesOf(value: JsonObject): Ordered[] {
  const headers = asArray(value.fullConversationHeadersOnly);
  const map = asObject(value.conversationMap);
  const seen = new Set<string>();
  return (headers.length > 0 ? headers : asArray(value.conversation)).flatMap((each, at) => {
    const header = asObject(each);
    const id = asText(header?.bubbleId) ?? `${at}`;
    if (header === undefined || seen.has(id)) return [];
    seen.add(id);
    const inside = headers.length > 0 ? asObject(map?.[id]) : header;
    return [{ id, header: headers.length > 0 ? header : {}, ...(inside !== undefined && { inside }) }];
  });
}

/** The bubbles of a conversation that lists none or is damaged, in the order in which they were last written. */
function storedBubbles(store: OpenStore, id: string): Ordered[] {
  const prefix = `${BUBBLE}${id}:`;
  const rows = store.rows(`SELECT key FROM ${TABLE} WHERE ${RANGE} ORDER BY rowid`, ...rangeOf(prefix));
  return [...rows].map(({ key }) => ({ id: String(key).slice(prefix.length), header: {} }));
}

/** Tool calls by bubble in versions that keep them in the conversation. */
function olderCalls(value: JsonObject | undefined): JsonObject | undefined {
  const tools = asArray(value?.capabilities).find((each) => asObject(each)?.type === 15);
  return inputOf(asObject(asObject(tools)?.data)?.bubbleDataMap);
}

/** The last summary that replaced earlier messages for the model, and the bubble that it follows. */
function summaryOf(value: JsonObject | undefined): { after: string; text: string } | undefined {
  const latest = asObject(value?.latestConversationSummary);
  const inner = asObject(latest?.summary);
  const summary = asText(latest?.summary) ?? asText(inner?.summary);
  const after = asText(latest?.lastBubbleId) ?? asText(inner?.truncationLastBubbleIdInclusive);
  return summary === undefined || after === undefined
    ? undefined
    : { after, text: JSON.stringify({ summary }) };
}

function bubbleRecord(
  store: OpenStore,
  text: string | undefined,
  header: JsonObject,
  call: unknown,
): Pick<SnapshotRecord, "text" | "revision"> {
  // Without hints for the layout, which change.
  const { bubbleId, type, createdAt } = header;
  if (text === undefined) return { text: JSON.stringify({ missing: { bubbleId, type, createdAt } }) };
  const bubble = parseObject(text);
  if (bubble === undefined) return { text };
  const tool = asObject(bubble.toolFormerData) ?? asObject(call);
  const own = {
    ...compact(bubble),
    ...(tool !== undefined && { toolFormerData: tool }),
    ...(bubble.createdAt === undefined && { createdAt }),
  };
  const contents = contentsOf(tool);
  if (contents === undefined) return { text: JSON.stringify({ bubble: own }) };
  return {
    // The contents are named by digests, and comparing them at each change would take long.
    revision: `${text.length}.${contents.before}.${contents.after}`,
    text: () => JSON.stringify({ bubble: own, change: contentChange(store, contents) }),
  };
}

/** A bubble without its empty members, nearly a hundred, and without an encoded copy of the conversation for the model. */
function compact({ conversationState: _, ...bubble }: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(bubble).filter(([, value]) => !isEmpty(value)));
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

/** The contents of a file before and after an edit, by key. */
interface Contents {
  path: string;
  before: string | undefined;
  after: string;
}

/** Maximum size of a file's content that is compared, in UTF-16 code units. */
const MAX_CONTENT = 1_000_000;
/** The content of a file that did not exist. */
const NOTHING = "composer.content.e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

function contentsOf(tool: JsonObject | undefined): Contents | undefined {
  const result = inputOf(tool?.result);
  const after = asText(result?.afterContentId);
  const path = asText(inputOf(tool?.params)?.relativeWorkspacePath) ?? asText(inputOf(tool?.rawArgs)?.path);
  if (after === undefined || path === undefined) return undefined;
  return { path, before: asText(result?.beforeContentId), after };
}

function contentChange(store: OpenStore, { path, before, after }: Contents): unknown {
  const isNew = before === undefined || before === NOTHING;
  const old = isNew ? undefined : textAt(store, before);
  const now = after === NOTHING ? "" : textAt(store, after);
  if (now === undefined || (old === undefined && !isNew)) return undefined;
  return now.length + (old?.length ?? 0) > MAX_CONTENT ? undefined : changeOf(path, old, now);
}
