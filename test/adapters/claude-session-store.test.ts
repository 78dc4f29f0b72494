import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type SessionKey,
  type SessionStoreEntry,
  VerbatimSessionStore,
} from "../../src/adapters/claude-session-store/session-store.ts";
import { type SpawnedDaemon, spawnDaemon } from "../server/spawned-daemon.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const FIXTURES = join(ROOT, "test/fixtures/claude-code");
const SESSION = "5f0c1a52-7d7e-4b8e-9a51-0d1c2b3a4f5e";
/** Not among the repository's packages, because its optional packages are several hundred megabytes. */
const SDK_VERSION = "0.3.332";
const SDK_FOLDER = join(ROOT, ".cache/claude-agent-sdk");

/** The parts of the SDK that read a store. */
interface Sdk {
  importSessionToStore(id: string, store: VerbatimSessionStore, options?: { dir?: string }): Promise<void>;
  listSessions(options: {
    dir: string;
    sessionStore: VerbatimSessionStore;
  }): Promise<{ sessionId: string }[]>;
  getSessionMessages(
    id: string,
    options: { dir: string; sessionStore: VerbatimSessionStore },
  ): Promise<{ type: string; uuid: string }[]>;
}

let daemon: SpawnedDaemon;
let store: VerbatimSessionStore;
beforeAll(async () => {
  daemon = await spawnDaemon();
  store = new VerbatimSessionStore({ url: daemon.origin, token: daemon.token });
});
afterAll(() => daemon.close());

const entry = (n: number, more: object = {}): SessionStoreEntry => ({
  type: "user",
  uuid: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
  text: `Entry ${n}`,
  ...more,
});

describe("the contract of SessionStore", () => {
  const key = (sessionId: string, subpath?: string): SessionKey => ({
    projectKey: "-home-mara-tide",
    sessionId,
    ...(subpath !== undefined && { subpath }),
  });

  it("returns null for a key that was never written", async () => {
    expect(await store.load(key("never"))).toBeNull();
    expect(await store.listSessions("no-such-project")).toEqual([]);
    expect(await store.listSubkeys(key("never"))).toEqual([]);
  });

  it("returns appended entries, deep-equal and in call order", async () => {
    const entries = [
      entry(1),
      { type: "title", title: "Ünïcode \u2028 \n 😀" },
      entry(2, { deep: { a: [1, null] } }),
    ];
    await store.append(key("order"), entries.slice(0, 1));
    await Promise.all([
      store.append(key("order"), entries.slice(1, 2)),
      store.append(key("other"), [entry(9)]),
    ]);
    await store.append(key("order"), entries.slice(2));
    await store.append(key("order"), []);
    expect(await store.load(key("order"))).toEqual(entries);
  });

  it("appends an entry with a uuid once, and one without a uuid each time", async () => {
    const mode = { type: "mode", mode: "plan" };
    await store.append(key("twice"), [entry(1), mode]);
    await store.append(key("twice"), [entry(1), mode, entry(2)]);
    expect(await store.load(key("twice"))).toEqual([entry(1), mode, mode, entry(2)]);
  });

  it("stores sub-agents separately from their session, and lists them", async () => {
    await store.append(key("family"), [entry(1)]);
    await store.append(key("family", "subagents/agent-a1"), [entry(2)]);
    await store.append(key("family", "subagents/deep/agent.b2"), [entry(3)]);
    expect(await store.load(key("family"))).toEqual([entry(1)]);
    expect(await store.load(key("family", "subagents/agent-a1"))).toEqual([entry(2)]);
    expect((await store.listSubkeys(key("family"))).toSorted()).toEqual([
      "subagents/agent-a1",
      "subagents/deep/agent.b2",
    ]);
  });

  it("lists only the sessions of a project, with times in whole milliseconds", async () => {
    const before = Date.now() - 60_000;
    const project = { projectKey: "tenant/ä b", sessionId: "..weird." };
    await store.append(project, [entry(1)]);
    await store.append({ ...project, subpath: "subagents/agent-a" }, [entry(2)]);
    const [session, ...others] = await store.listSessions(project.projectKey);
    expect(others).toEqual([]);
    expect(session?.sessionId).toBe("..weird.");
    expect(Number.isInteger(session?.mtime) && (session?.mtime ?? 0) > before).toBe(true);
    expect(await store.load(project)).toEqual([entry(1)]);
  });

  it("rejects with the daemon's reason", async () => {
    const stranger = new VerbatimSessionStore({ url: daemon.origin, token: "wrong" });
    await expect(stranger.append(key("x"), [entry(1)])).rejects.toThrow(
      /POST \/api\/ingest\/files failed with 401/,
    );
    await expect(store.append(key("x", ""), [entry(1)])).rejects.toThrow(/subpath is empty/);
  });
});

/** Installs the SDK without its programs; `undefined`: the registry cannot be reached. */
function sdkFolder(): string | undefined {
  const folder = join(SDK_FOLDER, "node_modules/@anthropic-ai/claude-agent-sdk");
  if (!existsSync(folder)) {
    mkdirSync(SDK_FOLDER, { recursive: true });
    writeFileSync(join(SDK_FOLDER, "package.json"), '{"private":true}');
    const names = [
      `@anthropic-ai/claude-agent-sdk@${SDK_VERSION}`,
      "@anthropic-ai/sdk",
      "@modelcontextprotocol/sdk",
      "zod",
    ];
    spawnSync(
      "npm",
      ["install", "--omit=optional", "--no-audit", "--no-fund", "--silent", "--fetch-retries=0", ...names],
      {
        cwd: SDK_FOLDER,
        timeout: 120_000,
      },
    );
  }
  return existsSync(folder) ? folder : undefined;
}

const folder = sdkFolder();

describe.skipIf(folder === undefined)(
  `the Claude Agent SDK ${SDK_VERSION}${folder === undefined ? " (skipped: it cannot be installed here)" : ""}`,
  () => {
    it("imports a session with its sub-agents, lists it and reads its messages from the store", async () => {
      const { importSessionToStore, listSessions, getSessionMessages }: Sdk = await import(
        join(folder ?? "", "sdk.mjs")
      );
      const config = join(daemon.home, "claude");
      const cwd = join(daemon.home, "project");
      const project = cwd.replace(/[^a-zA-Z0-9]/g, "-");
      mkdirSync(join(config, "projects", project), { recursive: true });
      mkdirSync(cwd);
      const text = readFileSync(join(FIXTURES, `${SESSION}.jsonl`), "utf8");
      writeFileSync(join(config, "projects", project, `${SESSION}.jsonl`), text);
      process.env.CLAUDE_CONFIG_DIR = config;
      try {
        await importSessionToStore(SESSION, store, { dir: cwd });
        const sessions = await listSessions({ dir: cwd, sessionStore: store });
        expect(sessions.map(({ sessionId }) => sessionId)).toEqual([SESSION]);
        const messages = await getSessionMessages(SESSION, { dir: cwd, sessionStore: store });
        expect(messages.length).toBeGreaterThan(3);
        const stored = await store.load({ projectKey: project, sessionId: SESSION });
        expect(stored).toEqual(
          text
            .trimEnd()
            .split("\n")
            .map((line): unknown => JSON.parse(line)),
        );
      } finally {
        delete process.env.CLAUDE_CONFIG_DIR;
      }
    });
  },
);
