import { mkdirSync, mkdtempSync, realpathSync, rmSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSessions, type FileBackedSessions } from "../../src/server/import/catalog.ts";
import type { SessionsOptions } from "../../src/server/import/sessions-options.ts";
import type { SourceChoices } from "../../src/server/import/source-choices.ts";
import { mergeSessions } from "../../src/server/sessions/merge-sessions.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { cursor } from "../../src/sources/cursor/format.ts";
import { cursorIde } from "../../src/sources/cursor-ide/format.ts";
import { kiro } from "../../src/sources/kiro/format.ts";
import { eventually } from "../eventually.ts";
import { createCursorUser } from "../sources/cursor-ide-support.ts";
import { conversation, createDatabase, entry, prompt, says } from "../sources/kiro-support.ts";
import { storedIn } from "./stored-in.ts";

const ID = "5d0c9a71-3b42-4f6e-9a18-27c4e1f0b6d3";
const timing = { hot: 10, list: 20, settle: 60_000, last_line: 20, publish: 5, persist: 10, tick: 10 };

let folder: string;
const running = new Set<Sessions>();
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "replaced-sessions-")));
});
afterEach(async () => {
  await stopAll();
  rmSync(folder, { recursive: true });
});

async function stopAll(): Promise<void> {
  for (const sessions of running) await sessions.close();
  running.clear();
}

const prompts = (sessions: Sessions): string[] =>
  sessions
    .list()
    .map(({ agent, first_prompt }) => `${agent}: ${first_prompt}`)
    .sort();

/** Switches that a person uses while the daemon runs. */
function switches(): Pick<SourceChoices, "off" | "subscribe"> & { set(agent: string, is_on: boolean): void } {
  const off = new Set<string>();
  const listeners = new Set<(agent: string) => void>();
  return {
    off,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(agent, is_on) {
      if (is_on) off.delete(agent);
      else off.add(agent);
      for (const listener of listeners) listener(agent);
    },
  };
}

const lines = (...records: object[]): string => records.map((each) => `${JSON.stringify(each)}\n`).join("");

describe("a conversation of Cursor that has a transcript too", () => {
  const transcript = (id = ID) =>
    join(folder, "home/.cursor/projects/tide/agent-transcripts", id, `${id}.jsonl`);

  function writeTranscript(text: string, path = transcript()): void {
    mkdirSync(dirname(path), { recursive: true });
    const message = { content: [{ type: "text", text: `<user_query>\n${text}\n</user_query>` }] };
    writeFileSync(path, lines({ role: "user", message }));
  }

  function writeConversation(text: string, id = ID): () => void {
    const user = createCursorUser(join(folder, "home/.config"));
    user.bubble(id, "u1", { type: 1, text });
    user.conversation(id, ["u1"]);
    return () => {
      user.database.exec("DELETE FROM cursorDiskKV");
      user.database.close();
    };
  }

  function start(options: Partial<SessionsOptions> = {}): Sessions {
    const sessions = mergeSessions([
      createSessions({
        formats: [cursor, cursorIde],
        roots: [
          { format: cursor, path: join(folder, "home/.cursor") },
          { format: cursorIde, path: join(folder, "home") },
        ],
        ...storedIn(join(folder, "data")),
        hints: false,
        timing,
        ...options,
      }),
    ]);
    running.add(sessions);
    return sessions;
  }

  it("is listed once, from the editor's store, whichever is found first", async () => {
    writeTranscript("From the transcript");
    writeTranscript("Of the command line", transcript("6e1d0b82-4c53-4a7f-8b29-38d5f2a1c7e4"));
    const sessions = start();
    await eventually(() =>
      expect(prompts(sessions)).toEqual(["cursor: From the transcript", "cursor: Of the command line"]),
    );
    const removed: string[] = [];
    sessions.subscribe((change) => removed.push(...change.removed));
    const transcript_id = sessions.list().find(({ first_prompt }) => first_prompt?.startsWith("From"))?.id;
    writeConversation("From the editor");
    await eventually(() =>
      expect(prompts(sessions)).toEqual(["cursor-ide: From the editor", "cursor: Of the command line"]),
    );
    expect(removed).toEqual([transcript_id]);
    await stopAll();
    const again = start();
    await eventually(() =>
      expect(prompts(again)).toEqual(["cursor-ide: From the editor", "cursor: Of the command line"]),
    );
  });

  it("is opened from the editor's store if a link names the transcript", async () => {
    writeTranscript("From the transcript");
    writeConversation("From the editor");
    const sessions = start();
    await eventually(() => expect(prompts(sessions)).toEqual(["cursor-ide: From the editor"]));
    await eventually(() => expect(sessions.get(ID)?.first_prompt).toBe("From the editor"));
    expect((await sessions.open(ID))?.summary.agent).toBe("cursor-ide");
  });

  it("is listed from the transcript while the editor's sessions are switched off", async () => {
    writeTranscript("From the transcript");
    writeConversation("From the editor");
    const choices = switches();
    const sessions = start({ choices });
    await eventually(() => expect(prompts(sessions)).toEqual(["cursor-ide: From the editor"]));
    choices.set("cursor-ide", false);
    await eventually(() => expect(prompts(sessions)).toEqual(["cursor: From the transcript"]));
    expect(sessions.get(ID)?.first_prompt).toBe("From the transcript");
    choices.set("cursor-ide", true);
    await eventually(() => expect(prompts(sessions)).toEqual(["cursor-ide: From the editor"]));
  });

  it("is listed from the transcript when the editor has deleted it, beside what was kept of it", async () => {
    writeTranscript("From the transcript");
    const remove = writeConversation("From the editor");
    const sessions = start();
    await eventually(() => expect(prompts(sessions)).toEqual(["cursor-ide: From the editor"]));
    remove();
    const listed = () => sessions.list().map(({ agent, archived }) => [agent, archived === true]);
    await eventually(() =>
      expect(listed().sort()).toEqual([
        ["cursor", false],
        ["cursor-ide", true],
      ]),
    );
    unlinkSync(transcript());
    await eventually(() => expect(listed()).toEqual([["cursor-ide", true]]));
  });

  it("is listed from both if the transcript was named", async () => {
    writeTranscript("From the transcript");
    writeConversation("From the editor");
    const sessions = start({ paths: [transcript()] });
    await eventually(() =>
      expect(prompts(sessions)).toEqual(["cursor-ide: From the editor", "cursor: From the transcript"]),
    );
  });
});

describe("a chat of Cursor's command line version that has a transcript too", () => {
  const RUN = "7a2b1c93-5d64-4e8f-9c3a-49e6a3b2d8f5";
  const CALL = "tool_1";
  const query = (text: string) => [{ type: "text", text: `<user_query>\n${text}\n</user_query>` }];

  function writeTranscript(text: string, path: string): void {
    const file = join(folder, "home/.cursor/projects/tide/agent-transcripts", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, lines({ role: "user", message: { content: query(text) } }));
  }

  function writeChat(id: string, head: object, ...messages: object[]): void {
    const path = join(folder, "home/.cursor/chats/0f3a", id, "store.db");
    mkdirSync(dirname(path), { recursive: true });
    const database = new DatabaseSync(path);
    database.exec(
      "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
    );
    const meta = Buffer.from(JSON.stringify({ agentId: id, ...head })).toString("hex");
    database.prepare("INSERT INTO meta VALUES ('0', ?)").run(meta);
    for (const [index, message] of messages.entries())
      database
        .prepare("INSERT INTO blobs VALUES (?, ?)")
        .run(`b${index}`, Buffer.from(JSON.stringify(message)));
    database.close();
  }

  function start(): { sessions: Sessions; imported: FileBackedSessions } {
    const imported = createSessions({
      formats: [cursor],
      roots: [{ format: cursor, path: join(folder, "home/.cursor"), folders: ["projects", "chats"] }],
      ...storedIn(join(folder, "data")),
      hints: false,
      timing,
    });
    const sessions = mergeSessions([imported]);
    running.add(sessions);
    return { sessions, imported };
  }

  const writeChats = () => {
    const input = { type: "tool-call", toolCallId: CALL, toolName: "Task", args: { prompt: "Look" } };
    writeChat(
      ID,
      {},
      { role: "user", content: query("From the chat") },
      { role: "assistant", content: [input] },
    );
    const subagentInfo = { parentAgentId: ID, toolCallId: CALL };
    writeChat(RUN, { subagentInfo, name: "A run" }, { role: "user", content: query("From the run's chat") });
  };
  const rows = (sessions: Sessions): string[] =>
    sessions
      .list()
      .map(({ title, first_prompt, parent }) =>
        [title ?? first_prompt ?? "untitled", parent?.tool_call_id ?? ""].join(" "),
      )
      .sort();
  const listed = [`A run ${CALL}`, "From the chat "];
  const counted = async (sessions: FileBackedSessions): Promise<number[]> =>
    (await sessions.describeSources()).map((source) => source.sessions);

  it("is listed once, from the chat, with its sub-agent, whichever is found first", async () => {
    writeTranscript("From the transcript", `${ID}/${ID}.jsonl`);
    writeTranscript("From the run's transcript", `${ID}/subagents/${RUN}.jsonl`);
    const { sessions, imported } = start();
    await eventually(() => expect(rows(sessions)).toEqual(["From the transcript ", "untitled "]));
    expect(await counted(imported)).toEqual([1]);
    writeChats();
    await eventually(() => expect(rows(sessions)).toEqual(listed));
    expect(await counted(imported)).toEqual([1]);
    // A link to the transcript leads to the chat.
    expect(sessions.get(ID)?.first_prompt).toBe("From the chat");
    expect(sessions.get(RUN)?.title).toBe("A run");
    await stopAll();
    const { sessions: again } = start();
    await eventually(() => expect(rows(again)).toEqual(listed));
    const [chat] = again.list().filter(({ parent }) => parent === undefined);
    const [run] = again.list().filter(({ parent }) => parent !== undefined);
    expect(run?.parent?.session_id).toBe(chat?.id);
  });

  it("is listed from the chat, with the chat's id, if only that exists", async () => {
    writeChats();
    const { sessions } = start();
    await eventually(() => expect(rows(sessions)).toEqual(listed));
    expect(sessions.get(ID)?.first_prompt).toBe("From the chat");
    expect(sessions.get(RUN)?.parent).toEqual({ session_id: ID, tool_call_id: CALL });
  });
});

describe("a conversation of Kiro CLI's database that was continued in a log", () => {
  const log = () => join(folder, "home/.kiro/sessions/cli", `${ID}.jsonl`);
  const history = (...texts: string[]) =>
    texts.map((text, index) => {
      const at = `2026-02-11T09:0${index}:00Z`;
      return entry(prompt(text, at), index * 60, says(`m${index}`, `Answer to ${text}`));
    });

  /** Writes the log that Kiro CLI copies the conversation to. `at`: its modification time. */
  function writeLog(texts: string[], at: string): void {
    mkdirSync(dirname(log()), { recursive: true });
    const records = texts.map((text, index) => ({
      version: "v1",
      kind: "Prompt",
      data: { message_id: `${index}`, content: [{ kind: "text", data: text }] },
    }));
    writeFileSync(log(), lines(...records));
    utimesSync(log(), new Date(at), new Date(at));
  }

  function start(): Sessions {
    const sessions = createSessions({
      formats: [kiro],
      roots: [
        { format: kiro, path: join(folder, "home/.kiro") },
        { format: kiro, path: join(folder, "home/data"), folders: ["kiro-cli"] },
      ],
      ...storedIn(join(folder, "data")),
      hints: false,
      timing,
    });
    running.add(sessions);
    return sessions;
  }
  const turns = (sessions: Sessions) => sessions.list().map((row) => row.turns);

  it("is listed once, from the log, and from the database if the log is deleted", async () => {
    const database = createDatabase(join(folder, "home/data/kiro-cli/data.sqlite3"));
    database.put("/home/mara/tide", conversation(ID, history("One", "Two")));
    const sessions = start();
    await eventually(() => expect(turns(sessions)).toEqual([2]));
    writeLog(["One", "Two", "Three"], new Date().toISOString());
    await eventually(() => expect(turns(sessions)).toEqual([3]));
    unlinkSync(log());
    await eventually(() => expect(turns(sessions).sort()).toEqual([2, 3]));
    expect(sessions.list().map(({ archived }) => archived === true)).toContain(false);
  });

  it("is listed from both if the older version continued it after that", async () => {
    const database = createDatabase(join(folder, "home/data/kiro-cli/data.sqlite3"));
    database.put("/home/mara/tide", conversation(ID, history("One", "Two")));
    writeLog(["One"], "2026-02-01T09:00:00Z");
    const sessions = start();
    await eventually(() => expect(turns(sessions).sort()).toEqual([1, 2]));
  });
});
