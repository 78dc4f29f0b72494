import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { agentSource, sourcesReply } from "../../src/protocol.ts";
import { createSessions, type FileBackedSessions } from "../../src/server/import/catalog.ts";
import { createIndexer } from "../../src/server/import/index-threads.ts";
import { openSourceChoices, type SourceChoices } from "../../src/server/import/source-choices.ts";
import { openIndexState } from "../../src/server/index/index-state.ts";
import { createSearch, type Search } from "../../src/server/index/search-service.ts";
import { createSearchThread } from "../../src/server/index/search-thread.ts";
import { formats } from "../../src/sources/index.ts";
import { DAEMON_SCRIPT } from "../daemon-script.ts";
import { bareEnvironment } from "../environment.ts";
import { eventually } from "../eventually.ts";
import { generateClaudeSession } from "../generate-session.ts";
import { type SpawnedDaemon, spawnDaemon } from "./spawned-daemon.ts";
import { storedIn } from "./stored-in.ts";

const ROLLOUT = join(import.meta.dirname, "../fixtures/codex/turns-0144.jsonl");

describe("agents switched off and on", () => {
  let folder: string;
  let running: { sessions: FileBackedSessions; choices: SourceChoices; search: Search } | undefined;
  let close = async () => {};
  const data = () => join(folder, "data");
  const claude = (name: string) => join(folder, "claude/projects/p", `${name}.jsonl`);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "verbatim-sources-"));
    mkdirSync(join(folder, "claude/projects/p"), { recursive: true });
    mkdirSync(join(folder, "codex/sessions"), { recursive: true });
    mkdirSync(data());
  });
  afterEach(async () => {
    await close();
    close = async () => {};
    rmSync(folder, { recursive: true });
  });

  const formatOf = (agent: string) => {
    const format = formats.find(({ id }) => id === agent);
    if (!format) throw new Error(`There is no format ${agent}`);
    return format;
  };

  async function start(paths: string[] = []) {
    const choices = openSourceChoices(data());
    const state = await openIndexState(join(data(), "index.db"), true);
    const indexer = createIndexer((report) => {
      if (report.type === "indexed") state.written(report.generation, report);
    });
    const sessions = createSessions({
      formats,
      roots: [
        { format: formatOf("claude-code"), path: join(folder, "claude") },
        { format: formatOf("codex"), path: join(folder, "codex") },
        { format: formatOf("opencode"), path: join(folder, "share") },
        { format: formatOf("pi"), path: join(folder, "pi") },
      ],
      paths,
      choices,
      ...storedIn(data()),
      indexer,
      part_index: state,
      timing: { hot: 20, list: 20, last_line: 20, publish: 5, tick: 20, persist: 20 },
    });
    const thread = createSearchThread(state);
    const search = createSearch({ thread, sessions, now: Date.now, skipped: () => [...choices.off] });
    close = async () => {
      await thread.close();
      await sessions.close();
      await state.close();
    };
    running = { sessions, choices, search };
    return running;
  }

  function writeClaude(name: string, word: string, seed: number): string {
    const { session_id, lines } = generateClaudeSession({ parts: 20, turns: 1, seed });
    writeFileSync(claude(name), `${lines.join("\n").replace("parser", word)}\n`);
    return session_id;
  }
  const writeCodex = () =>
    copyFileSync(ROLLOUT, join(folder, "codex/sessions/rollout-2026-11-20T10-00-00-turns.jsonl"));
  const agents = () =>
    running?.sessions
      .list()
      .map(({ agent }) => agent)
      .sort();
  const hits = async (word: string) =>
    (await running?.search.search(word, { limit: 30, sort: "newest" }))?.hits.map(
      ({ session }) => session.id,
    );
  const searchInTerminal = (word: string): string =>
    spawnSync(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", DAEMON_SCRIPT, "search", word, "--data-dir", data()],
      { env: { ...bareEnvironment, HOME: folder, USERPROFILE: folder }, encoding: "utf8" },
    ).stdout;
  const sourceOf = async (agent: string) =>
    (await running?.sessions.describeSources())?.find((source) => source.agent === agent);

  it("names in the status the folders that are scanned, not those above them", async () => {
    await start();
    const roots = running?.sessions.status().roots ?? [];
    expect(roots).toContainEqual({
      agent: "claude-code",
      path: join(folder, "claude/projects"),
      exists: true,
    });
    expect(roots.map(({ path }) => path)).not.toContain(join(folder, "share"));
  });

  it("lists each agent's folders, number of sessions, and missing folders", async () => {
    writeClaude("one", "zebrafinch", 1);
    writeClaude("two", "zebrafinch", 2);
    await start();
    await eventually(() => expect(agents()).toHaveLength(2));
    const found = await eventually(async () => {
      const source = await sourceOf("claude-code");
      expect(source?.read_at).toBeDefined();
      return source;
    });
    expect(found).toMatchObject({
      name: "Claude Code",
      is_on: true,
      sessions: 2,
      problems: [],
      folders: [{ path: join(folder, "claude/projects"), exists: true }],
    });
    expect(found?.read_at).toBeLessThanOrEqual(Date.now());
    expect(await sourceOf("pi")).toMatchObject({
      sessions: 0,
      folders: [{ path: join(folder, "pi/sessions"), exists: false }],
    });
    // Exports have no default folder, so they are not listed without a file.
    expect(await sourceOf("atif")).toBeUndefined();
  });

  it("names an unreadable file", async () => {
    writeClaude("one", "zebrafinch", 1);
    mkdirSync(join(folder, "share/opencode"), { recursive: true });
    const broken = join(folder, "share/opencode/opencode.db");
    writeFileSync(broken, "SQLite format 3\0 and then nothing of it");
    await start();
    await eventually(async () => {
      const problems = (await sourceOf("opencode"))?.problems;
      expect(problems?.map(({ path }) => path)).toEqual([broken]);
      expect(problems?.[0]?.text).toContain("cannot be read");
    });
    expect((await sourceOf("claude-code"))?.problems).toEqual([]);
  });

  it("excludes a switched-off agent from list, views and search without reading it, and restores everything", async () => {
    const one = writeClaude("one", "zebrafinch", 1);
    writeCodex();
    const { sessions, choices } = await start();
    await eventually(() => expect(agents()).toEqual(["claude-code", "codex"]));
    await eventually(async () => expect(await hits("zebrafinch")).toEqual([one]));

    const removed: string[] = [];
    sessions.subscribe((change) => removed.push(...change.removed));
    choices.set("claude-code", false);
    expect(removed).toEqual([one]);
    expect(agents()).toEqual(["codex"]);
    expect(sessions.get(one)).toBeUndefined();
    expect(await sessions.open(one)).toBeUndefined();
    expect(await hits("zebrafinch")).toEqual([]);
    expect(searchInTerminal("zebrafinch")).toContain("No matches");
    expect(await sourceOf("claude-code")).toMatchObject({ is_on: false, sessions: 1 });

    // While the agent is off, one session grows and another one is created.
    appendFileSync(
      claude("one"),
      `${JSON.stringify({ type: "user", uuid: crypto.randomUUID(), sessionId: one, timestamp: "2026-11-20T12:00:00Z", message: { role: "user", content: "axolotl" } })}\n`,
    );
    const two = writeClaude("two", "narwhal", 2);
    // Once the Codex file is read, the others would have been read too.
    const before = sessions.list()[0]?.byte_size ?? 0;
    appendFileSync(join(folder, "codex/sessions/rollout-2026-11-20T10-00-00-turns.jsonl"), "{}\n");
    await eventually(() => expect(sessions.list()[0]?.byte_size).toBe(before + 3));
    expect(agents()).toEqual(["codex"]);
    expect(await hits("narwhal")).toEqual([]);

    choices.set("claude-code", true);
    expect(sessions.get(one)?.id).toBe(one);
    expect(searchInTerminal("zebrafinch")).toContain(one);
    await eventually(() => expect(agents()).toEqual(["claude-code", "claude-code", "codex"]));
    await eventually(async () => expect(await hits("narwhal")).toEqual([two]));
    await eventually(async () => expect(await hits("axolotl")).toEqual([one]));
    expect((await sessions.open(one))?.transcript.parts.length).toBeGreaterThan(20);
  });

  it("keeps a choice and earlier results over a restart", async () => {
    const one = writeClaude("one", "zebrafinch", 1);
    writeCodex();
    await start();
    await eventually(() => expect(agents()).toHaveLength(2));
    await eventually(async () => expect(await hits("zebrafinch")).toEqual([one]));
    running?.choices.set("claude-code", false);
    await close();
    rmSync(claude("one"));

    const { sessions, choices } = await start();
    await eventually(() => expect(sessions.status().index.done).toBe(true));
    expect(agents()).toEqual(["codex"]);
    expect(await hits("zebrafinch")).toEqual([]);
    choices.set("claude-code", true);
    // Its file was deleted while the agent was off, so the archive serves it.
    await eventually(() => expect(sessions.get(one)).toMatchObject({ archived: true }));
  });

  it("reads an agent's databases again once it is on", async () => {
    mkdirSync(join(folder, "share/opencode"), { recursive: true });
    const database = new DatabaseSync(join(folder, "share/opencode/opencode.db"));
    try {
      database.exec(`CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
        time_created INTEGER, time_updated INTEGER, time_archived INTEGER, revert TEXT);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);`);
      const put = (id: string) => {
        const session = `ses_${id}`;
        database
          .prepare(
            "INSERT INTO session (id, directory, title, version, time_created, time_updated) VALUES (?, '/w', ?, '1', 1, 1)",
          )
          .run(session, `Session ${id}`);
        database
          .prepare("INSERT INTO message VALUES (?, ?, 1, 1, ?)")
          .run(`msg_${id}`, session, JSON.stringify({ role: "user", time: { created: 1 } }));
        database
          .prepare("INSERT INTO part VALUES (?, ?, ?, 1, 1, ?)")
          .run(`prt_${id}`, `msg_${id}`, session, JSON.stringify({ type: "text", text: `Prompt ${id}` }));
      };
      put("1");
      openSourceChoices(data()).set("opencode", false);
      writeCodex();
      const { choices, sessions } = await start();
      await eventually(() => expect(agents()).toEqual(["codex"]));
      await eventually(() => expect(sessions.status().index.done).toBe(true));
      choices.set("opencode", true);
      await eventually(() => expect(agents()).toEqual(["codex", "opencode"]));
      choices.set("opencode", false);
      put("2");
      choices.set("opencode", true);
      await eventually(() => expect(agents()).toEqual(["codex", "opencode", "opencode"]));
    } finally {
      database.close();
    }
  });

  it("explains why a named file is not shown while its agent is off", async () => {
    const named = join(folder, "elsewhere.jsonl");
    const { session_id, lines } = generateClaudeSession({ parts: 10, turns: 1, seed: 9 });
    writeFileSync(named, `${lines.join("\n")}\n`);
    openSourceChoices(data()).set("claude-code", false);
    const { choices, sessions } = await start([named]);
    await eventually(() =>
      expect(sessions.status().notices.map(({ text }) => text)).toEqual([
        `${named}: Claude Code is switched off in the settings.`,
      ]),
    );
    choices.set("claude-code", true);
    await eventually(() => expect(sessions.get(session_id)).toBeDefined());
    expect(sessions.status().notices).toEqual([]);
    expect((await sourceOf("claude-code"))?.folders).toContainEqual({ path: named, exists: true });
  });

  it("reports a damaged file of choices, and keeps it next to the new one", () => {
    const file = join(data(), "sources.json");
    writeFileSync(file, '{"off":');
    const choices = openSourceChoices(data());
    expect([...choices.off]).toEqual([]);
    expect(choices.notices[0]?.text).toContain(file);
    choices.set("codex", false);
    expect(readFileSync(`${file}.damaged`, "utf8")).toBe('{"off":');
    expect([...openSourceChoices(data()).off]).toEqual(["codex"]);
  });
});

describe("the routes of the sources", () => {
  let daemon: SpawnedDaemon;
  beforeAll(async () => {
    daemon = await spawnDaemon();
    mkdirSync(join(daemon.home, ".codex/sessions"), { recursive: true });
    copyFileSync(ROLLOUT, join(daemon.home, ".codex/sessions/rollout-2026-11-20T10-00-00-turns.jsonl"));
  });
  afterAll(() => daemon.close());

  const call = (path: string, body?: unknown, token = daemon.api_token) =>
    fetch(daemon.origin + path, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
  const rows = async (): Promise<unknown[]> => (await (await call("/api/sessions")).json()).sessions;
  const agents = (...words: string[]) =>
    spawnSync(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", DAEMON_SCRIPT, "agents", ...words],
      {
        env: {
          ...bareEnvironment,
          HOME: daemon.home,
          USERPROFILE: daemon.home,
          XDG_DATA_HOME: join(daemon.home, "share"),
        },
        encoding: "utf8",
      },
    );

  it("switch an agent off and on, and reject strangers, unknown agents and invalid bodies", async () => {
    // The folder was created after the start.
    await eventually(async () => expect(await rows()).toHaveLength(1), 30_000);
    const off = agentSource.parse(await (await call("/api/sources/codex", { is_on: false })).json());
    expect(off).toMatchObject({ agent: "codex", is_on: false });
    expect(JSON.parse(readFileSync(join(daemon.data, "sources.json"), "utf8"))).toEqual({ off: ["codex"] });
    expect(await rows()).toEqual([]);
    const { agents: listed } = sourcesReply.parse(await (await call("/api/sources")).json());
    expect(listed.find(({ agent }) => agent === "codex")).toEqual(off);

    expect((await call("/api/sources/codex", { is_on: true }, daemon.token)).status).toBe(401);
    expect(existsSync(join(daemon.data, "sources.json"))).toBe(true);
    const unknown = await call("/api/sources/nobody", { is_on: true });
    expect([unknown.status, (await unknown.json()).error.code]).toEqual([404, "no_agent"]);
    const wrong = await call("/api/sources/codex", { is_on: "yes" });
    expect([wrong.status, (await wrong.json()).error.message]).toEqual([
      400,
      expect.stringContaining("`is_on`"),
    ]);

    const on = agents("on", "codex");
    expect(on.stderr).toBe("");
    expect(on.stdout).toMatch(/^Read\n {2}Codex \(codex\) {2}1 session {2}read /);
    expect(on.stdout).toContain("\nNot found\n");
    expect(on.stdout).toContain(join(daemon.home, ".claude/projects"));
    await eventually(async () => expect(await rows()).toHaveLength(1));
    expect(agents("off", "codex").stdout).toContain("\nOff\n  Codex (codex)  1 session\n");
    expect(agents("off")).toMatchObject({ status: 2, stderr: expect.stringContaining("agents off AGENT") });
    expect(agents("off", "nobody").stderr).toContain("Unknown agent nobody.");
  });
});
