import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { openCode } from "../../src/sources/opencode/format.ts";
import { openCodeSessionId } from "../../src/sources/opencode/ids.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

// The tables of opencode 2 (`session_v2`, `session_message`), which it adds to the database of opencode 1.

const folder = mkdtempSync(join(tmpdir(), "verbatim-opencode-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const CREATED = 1_790_000_000_000;

class Store {
  readonly path = join(folder, `opencode-${files++}.db`);
  private readonly database = new DatabaseSync(this.path);
  private seq = 0;

  constructor() {
    this.database.exec(`
      CREATE TABLE session_v2 (id TEXT PRIMARY KEY, parent_id TEXT, fork_session_id TEXT, directory TEXT, title TEXT,
        version TEXT, revert TEXT, agent TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER);
      CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER,
        time_created INTEGER, time_updated INTEGER, data TEXT);
    `);
  }

  run(sql: string, ...values: (string | number | null)[]): void {
    this.database.prepare(sql).run(...values);
  }

  session(id: string, fields: Record<string, string | number> = {}): void {
    const row = {
      id,
      directory: "/w",
      version: "2.0.26",
      time_created: CREATED,
      time_updated: CREATED,
      ...fields,
    };
    const names = Object.keys(row);
    this.run(`INSERT INTO session_v2 (${names}) VALUES (${names.map(() => "?")})`, ...Object.values(row));
  }

  put(id: string, type: string, data: object, session = "ses_a"): void {
    this.seq += 1;
    const at = CREATED + this.seq * 1000;
    const text = JSON.stringify({ time: { created: at, completed: at + 500 }, ...data });
    this.run(
      "INSERT OR REPLACE INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)",
      id,
      session,
      type,
      this.seq,
      at,
      at,
      text,
    );
  }

  look(known?: Map<string, FollowedSession>): Map<string, FollowedSession> {
    return look(openCode, openStore(this.path), known);
  }
}

function session(sessions: Map<string, FollowedSession>, name = "ses_a") {
  const found = sessions.get(name);
  if (found === undefined) throw new Error(`No session ${name}`);
  return { ...closed(found), records: found.records, facts: found.reader.linkFacts() };
}
const short = (part: TranscriptPart): unknown[] => {
  switch (part.type) {
    case "prompt":
      return [
        "prompt",
        part.origin,
        ...part.parts.map((each) => (each.type === "text" ? each.text : each.type)),
      ];
    case "text":
      return ["text", part.text];
    case "thinking":
      return ["thinking", part.thinking];
    case "tool_call":
      return ["call", part.tool_name, part.arguments_json];
    case "tool_result":
      return ["result", part.status, part.output_text, part.ui_extra];
    case "marker":
      return [part.kind, part.title, part.text];
    default:
      return [part.type];
  }
};
const shown = (parts: TranscriptPart[]) =>
  parts.filter(({ type }) => type !== "step_start" && type !== "step_finish").map(short);
const model = { id: "m1", providerID: "p" };
const tokens = { input: 10, output: 5, reasoning: 2, cache: { read: 3, write: 1 } };

describe("sessions of opencode 2", () => {
  it("have prompts, thoughts, texts, calls with results, and tokens", () => {
    const store = new Store();
    store.session("ses_a", { title: "Fix it", agent: "build" });
    store.put("msg_1", "user", {
      text: "fix",
      files: [{ uri: "file:///w/a.ts", mime: "text/plain", name: "a.ts" }],
    });
    store.put("msg_2", "assistant", {
      agent: "build",
      model,
      content: [
        { type: "reasoning", text: "hm", time: { created: CREATED, completed: CREATED + 1 } },
        {
          type: "tool",
          id: "c1",
          name: "shell",
          state: {
            status: "completed",
            input: { command: "false" },
            content: [
              { type: "text", text: "no\n" },
              { type: "text", text: "Command exited with code 7." },
            ],
            metadata: { exit: 7 },
          },
          time: { created: CREATED, ran: CREATED + 10, completed: CREATED + 60 },
        },
        {
          type: "tool",
          id: "c2",
          name: "edit",
          state: {
            status: "completed",
            input: { path: "a.ts", oldString: "1", newString: "2" },
            content: [{ type: "text", text: "Edited a.ts" }],
            metadata: {
              files: [
                {
                  file: "a.ts",
                  patch: "@@ -1,1 +1,1 @@\n-1\n+2\n",
                  additions: 1,
                  deletions: 1,
                  status: "modified",
                },
              ],
            },
          },
          time: { created: CREATED },
        },
        {
          type: "tool",
          id: "c3",
          name: "read",
          state: {
            status: "error",
            input: { path: "b" },
            error: { type: "aborted", message: "Tool execution interrupted" },
          },
          time: { created: CREATED },
        },
      ],
      finish: "tool-calls",
      cost: 0.5,
      tokens,
    });
    store.put("msg_3", "assistant", { model, content: [{ type: "text", text: "done" }], finish: "stop" });
    store.put("msg_4", "idle", { outcome: "succeeded" });
    const { parts, transcript, records } = session(store.look());
    expect(shown(parts)).toEqual([
      ["prompt", undefined, "fix", "file"],
      ["thinking", "hm"],
      ["call", "shell", '{"command":"false"}'],
      [
        "result",
        "success",
        "no\nCommand exited with code 7.",
        { type: "shell", command: "false", exit_code: 7, duration_ms: 50 },
      ],
      ["call", "edit", '{"path":"a.ts","oldString":"1","newString":"2"}'],
      [
        "result",
        "success",
        "Edited a.ts",
        { type: "diff", files: [expect.objectContaining({ path: "a.ts", additions: 1 })] },
      ],
      ["call", "read", '{"path":"b"}'],
      ["result", "aborted", "Tool execution interrupted", undefined],
      ["text", "done"],
    ]);
    expect(transcript.turns.at(0)).toMatchObject({
      status: "completed",
      usage: { input: 10, output: 7, cache_read: 3, cache_write: 1, cost: 0.5 },
    });
    expect(records.map(({ disposition }) => disposition.kind)).not.toContain("unknown");
  });

  it("are read as they grow", () => {
    const store = new Store();
    store.session("ses_a");
    store.put("msg_1", "user", { text: "go" });
    const call = { type: "tool", id: "c", name: "shell", time: { created: CREATED } };
    const answer = (state: object, more: object = {}) =>
      store.put("msg_2", "assistant", {
        time: { created: CREATED },
        model,
        content: [{ ...call, state }],
        ...more,
      });
    answer({ status: "streaming", input: '{"comm' });
    const known = store.look();
    answer({ status: "running", input: { command: "ls" }, metadata: {} });
    store.look(known);
    answer(
      { status: "completed", input: { command: "ls" }, content: [{ type: "text", text: "a" }] },
      { time: { created: CREATED, completed: CREATED + 9 }, finish: "tool-calls" },
    );
    const { parts } = session(store.look(known));
    expect(shown(parts)).toEqual(shown(session(store.look()).parts));
    expect(shown(parts)).toEqual([
      ["prompt", undefined, "go"],
      ["call", "shell", '{"command":"ls"}'],
      ["result", "success", "a", { type: "shell", command: "ls" }],
    ]);
  });

  it("have commands of a person, switches, context, compactions, retries and errors", () => {
    const store = new Store();
    store.session("ses_a");
    store.put("msg_1", "shell", {
      shellID: "sh_1",
      command: "ls",
      status: "exited",
      exit: 0,
      output: { output: "a\n", truncated: false },
    });
    store.put("msg_2", "agent-switched", { agent: "plan", previous: "build" });
    store.put("msg_3", "model-switched", { model: { id: "m2" }, previous: { id: "m1" } });
    store.put("msg_4", "location-switched", {
      location: { directory: "/new" },
      previous: { location: { directory: "/w" } },
    });
    store.put("msg_5", "system", { text: "tools changed" });
    store.put("msg_6", "synthetic", { text: "<done/>", description: "sleep 9" });
    store.put("msg_7", "skill", { skill: "tidy", name: "tidy", text: "Be tidy" });
    store.put("msg_8", "compaction", {
      status: "completed",
      reason: "auto",
      model,
      summary: "So far",
      recent: "",
      tokens,
    });
    store.put("msg_9", "assistant", {
      model,
      content: [],
      retry: { attempt: 2, at: CREATED, error: { type: "api", message: "busy" } },
      error: { type: "api", message: "overloaded" },
    });
    store.put("msg_a", "later", {});
    const { parts, transcript } = session(store.look());
    expect(shown(parts)).toEqual([
      ["prompt", "command", "! ls"],
      ["call", "shell", '{"command":"ls"}'],
      ["result", "success", "a\n", { type: "shell", command: "ls", exit_code: 0, duration_ms: 500 }],
      ["note", "Agent: plan", undefined],
      ["model_switch", "m1 → m2", undefined],
      ["note", "/w → /new", undefined],
      ["context", "Context", "tools changed"],
      ["context", "sleep 9", "<done/>"],
      ["context", "Skill: tidy", "Be tidy"],
      ["compaction", "Context compacted by the agent", undefined],
      ["text", "So far"],
      ["retry", "Attempt 2 failed", "busy"],
      ["error", "overloaded", "overloaded"],
      ["unknown"],
    ]);
    expect(transcript.turns.slice().flatMap((turn) => turn?.status ?? [])).toContain("failed");
  });

  it("are linked to the call that started them, and to the session they were forked from", () => {
    const store = new Store();
    store.session("ses_a");
    store.session("ses_b", { parent_id: "ses_a", agent: "explore", title: "Look around" });
    store.session("ses_c", { fork_session_id: "ses_a" });
    store.put("msg_1", "assistant", {
      model,
      content: [
        {
          type: "tool",
          id: "c",
          name: "subagent",
          state: {
            status: "running",
            input: { agent: "explore", prompt: "look" },
            metadata: { sessionID: "ses_b" },
          },
          time: { created: CREATED },
        },
      ],
    });
    const sessions = store.look();
    expect(session(sessions).facts.sessions[0]?.calls).toMatchObject([
      { tool_call_id: "c", agent_key: "ses_b" },
    ]);
    const run = session(sessions, "ses_b");
    expect(run.facts.sessions[0]?.run).toMatchObject({ agent_key: "ses_b" });
    const patches = (name: string) =>
      session(sessions, name).records.flatMap(({ frames }) =>
        frames.flatMap((frame) => (frame.type === "session.update" ? frame.patch : [])),
      );
    expect(patches("ses_b")[1]).toMatchObject({ run: { name: "explore", task: "Look around" } });
    expect(patches("ses_c")[1]).toMatchObject({ forked_from: { session_id: openCodeSessionId("ses_a") } });
  });

  it("keep what was undone, marked, also when it was deleted", () => {
    const store = new Store();
    store.session("ses_a");
    for (const number of [1, 2]) {
      store.put(`msg_${number}u`, "user", { text: `p${number}` });
      store.put(`msg_${number}a`, "assistant", {
        model,
        content: [{ type: "text", text: "ok" }],
        finish: "stop",
      });
    }
    const known = store.look();
    const retracted = (sessions: Map<string, FollowedSession>) =>
      session(new Map([["ses_a", { ...(sessions.get("ses_a") as FollowedSession) }]]))
        .parts.filter(({ type }) => type === "prompt" || type === "text")
        .map((part) => ("retracted" in part ? part.retracted : undefined));
    store.run(`UPDATE session_v2 SET revert = '{"messageID":"msg_2u"}', time_updated = 1`);
    expect(retracted(store.look(known))).toEqual([
      undefined,
      undefined,
      "undone in opencode",
      "undone in opencode",
    ]);
    store.run(`DELETE FROM session_message WHERE seq >= 3`);
    store.run(`UPDATE session_v2 SET revert = NULL, time_updated = 2`);
    expect(retracted(store.look(known)).slice(0, 2)).toEqual([undefined, undefined]);
  });

  it("continue a session of opencode 1, whose own records are kept", () => {
    const store = new Store();
    store.run(
      "CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, title TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER)",
    );
    store.run(
      "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT)",
    );
    store.run(
      "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT)",
    );
    for (const id of ["ses_a", "ses_old"])
      store.run("INSERT INTO session VALUES (?, '/w', ?, '1.18.33', NULL, 1, 1)", id, `Title of ${id}`);
    for (const [id, in_session] of [
      ["msg_1", "ses_a"],
      ["msg_o", "ses_old"],
    ] as const) {
      store.run(
        "INSERT INTO message VALUES (?, ?, 1, 1, ?)",
        id,
        in_session,
        '{"role":"user","time":{"created":1}}',
      );
      store.run(
        "INSERT INTO part VALUES (?, ?, ?, 1, 1, ?)",
        `prt_${id}`,
        id,
        in_session,
        '{"type":"text","text":"from opencode 1"}',
      );
    }
    store.session("ses_a", { title: "Renamed" });
    store.put("msg_1", "user", { text: "the copy" });
    store.put("msg_2", "user", { text: "from opencode 2" });
    const sessions = store.look();
    expect([...sessions.keys()].sort()).toEqual(["ses_a", "ses_old"]);
    expect(shown(session(sessions).parts)).toEqual([
      ["prompt", undefined, "from opencode 1"],
      ["prompt", undefined, "from opencode 2"],
    ]);
    expect(shown(session(sessions, "ses_old").parts)).toEqual([["prompt", undefined, "from opencode 1"]]);
  });

  it("are recognized in a database without the tables of opencode 1", () => {
    expect(openCode.snapshots?.recognizes(openStore(new Store().path))).toBe(true);
  });
});
