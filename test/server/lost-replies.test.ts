import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ManagedSessions } from "../../src/server/managed/managed-sessions.ts";
import { eventually } from "../eventually.ts";
import { LONG, times } from "../long.ts";
import { seeded } from "../seeded.ts";
import { createFaultProxy, type FaultProxy } from "./fault-proxy.ts";
import { answer, prompt, write } from "./frame-source.ts";
import { openManaged } from "./managed/open-managed.ts";
import { played, words } from "./managed/play.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

const LOST = times(10, 1_000);
const STARTS = times(1, 100);

let folder: string;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "once-")));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, maxRetries: 5 });
});

interface Reply {
  status: number;
  body: { outcome?: string; answer?: { option_ids: string[] } };
}

describe("an action over a network that loses replies", {
  timeout: LONG ? 900_000 : 120_000,
}, () => {
  let managed: ManagedSessions;
  let httpServer: TestServer;
  let proxy: FaultProxy;
  let lost = 0;

  async function stage(play: Parameters<typeof played>[0]): Promise<void> {
    managed = await openManaged({ folder, agents: played(play) });
    closing.push(() => managed.close());
    httpServer = await startTestServer({ sessions: managed, managed });
    closing.push(httpServer.close);
    proxy = await createFaultProxy(() => httpServer.port);
    closing.push(proxy.close);
    lost = 0;
  }

  function post(path: string, body: unknown): Promise<Reply | undefined> {
    return new Promise((resolve) => {
      const text = JSON.stringify(body);
      const sent = request(
        {
          port: proxy.port,
          host: "127.0.0.1",
          method: "POST",
          path,
          agent: false,
          headers: {
            host: `127.0.0.1:${httpServer.port}`,
            authorization: `Bearer ${httpServer.access.api_token}`,
            "content-type": "application/json",
            "content-length": Buffer.byteLength(text),
          },
        },
        (reply) => {
          let received = "";
          reply.on("data", (chunk) => {
            received += chunk;
          });
          reply.on("error", () => resolve(undefined));
          reply.on("close", () => {
            if (!reply.complete) return resolve(undefined);
            resolve({ status: reply.statusCode ?? 0, body: JSON.parse(received) });
          });
        },
      );
      sent.on("error", () => resolve(undefined));
      sent.end(text);
    });
  }

  /** Retries until a reply arrives, as the page does. The first replies are truncated at a random byte, or lost. */
  async function persist(path: string, body: unknown, random: () => number): Promise<Reply> {
    proxy.faults.limit = Math.floor(random() * 700);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const reply = await post(path, body);
      if (reply) return reply;
      lost += 1;
      if (random() < 0.6) proxy.faults.limit = undefined;
    }
    throw new Error("No reply ever came");
  }

  it(`is one prompt, however many of ${LOST} replies are lost`, async () => {
    await stage(async (acting, { parts }) => {
      const [part] = parts;
      await acting.say(part?.type === "text" ? `Did ${part.text}` : "");
      return "completed";
    });
    const random = seeded(17);
    const session_id = randomUUID();
    const start = {
      session_id,
      agent: "player",
      cwd: folder,
      prompt: { message_id: randomUUID(), text: "0" },
    };
    expect((await persist("/api/sessions", start, random)).status).toBe(201);
    let sent = 0;
    while (lost < LOST) {
      sent += 1;
      const body = { prompt: { message_id: randomUUID(), text: `${sent}` }, when: "queue" };
      expect((await persist(`/api/sessions/${session_id}/prompts`, body, random)).status).toBe(200);
    }
    await eventually(() => {
      expect(managed.get(session_id)?.control).toMatchObject({ state: "idle", queued: [] });
    }, 120_000);
    const session = await managed.open(session_id);
    const said = session ? words(session.transcript) : [];
    const each = Array.from({ length: sent + 1 }, (_, n) => `${n}`);
    expect(said.filter((line) => line.startsWith("prompt"))).toEqual(each.map((n) => `prompt: ${n}`));
    expect(said.filter((line) => line.startsWith("text"))).toEqual(each.map((n) => `text: Did ${n}`));
    console.info(`${lost} replies lost, ${sent + 1} prompts`);
  });

  it(`is the first of two people's decisions for each request, over ${LOST} lost replies`, async () => {
    const request_ids = Array.from({ length: Math.ceil(LOST / 2) }, () => randomUUID());
    const acted: string[] = [];
    await stage(async (acting, _prompt, signal) => {
      for (const [n, request_id] of request_ids.entries()) {
        const options = ["a", "b"].map((id) => ({ id, label: id.toUpperCase() }));
        const given = await acting.host.ask(
          { request_id, kind: "question", title: `Which of ${n}?`, options },
          signal,
        );
        acted.push(given?.option_ids.join() ?? "nothing");
      }
      return "completed";
    });
    const random = seeded(18);
    const session_id = randomUUID();
    const start = {
      session_id,
      agent: "player",
      cwd: folder,
      prompt: { message_id: randomUUID(), text: "Go" },
    };
    await persist("/api/sessions", start, random);
    const decided: string[] = [];
    for (const request_id of request_ids) {
      await eventually(() => expect(managed.get(session_id)?.requests?.[0]?.request_id).toBe(request_id));
      const path = `/api/sessions/${session_id}/requests/${request_id}`;
      const operators = random() < 0.5 ? ["a", "b"] : ["b", "a"];
      const replies = await Promise.all(
        operators.map((option) => persist(path, { answer: { option_ids: [option] } }, random)),
      );
      const told = replies.map(({ body }) => body.answer?.option_ids.join() ?? "nothing");
      // Both get the same decision.
      expect(new Set(told).size).toBe(1);
      decided.push(told[0] ?? "");
    }
    await eventually(() => expect(managed.get(session_id)?.control?.state).toBe("idle"));
    expect(acted).toEqual(decided);
    console.info(`${lost} replies lost, ${decided.length} decisions`);
  });
});

describe("two daemons that start on one data folder at the same time", {
  timeout: LONG ? 1_800_000 : 120_000,
}, () => {
  it(`leave one writer and an intact store, ${STARTS} times`, async () => {
    const agent = join(folder, "agent");
    for (let n = 0; n < 5; n += 1) {
      write(
        join(agent, `sessions/${n}.jsonl`),
        prompt(`${n}`, "Go"),
        answer(`${n}`, "Line. ".repeat(20_000)),
      );
    }
    const data = join(folder, "data");
    mkdirSync(data);
    for (let round = 0; round < STARTS; round += 1) {
      // Every third round starts without a store.
      if (round % 3 === 0) rmSync(data, { recursive: true });
      const script = join(import.meta.dirname, "archiving-daemon.ts");
      const errors: string[] = [];
      const daemons = Array.from({ length: 2 }, () => {
        const child = spawn(
          process.execPath,
          ["--disable-warning=ExperimentalWarning", script, agent, data],
          { stdio: ["ignore", "pipe", "pipe"] },
        );
        let dots = 0;
        child.stdout.on("data", (chunk: Buffer) => {
          dots += chunk.length;
        });
        child.stderr.on("data", (chunk) => errors.push(String(chunk)));
        const ended = new Promise((resolve) => child.once("close", resolve));
        return { child, ended, dots: () => dots };
      });
      await eventually(() => {
        for (const { child, dots } of daemons) {
          expect(child.exitCode, errors.join()).toBe(null);
          expect(dots()).toBeGreaterThan(50);
        }
      });
      for (const { child } of daemons) child.kill("SIGKILL");
      for (const { ended } of daemons) await ended;
      expect(errors).toEqual([]);
      const database = new DatabaseSync(join(data, "verbatim.db"), { readOnly: true });
      expect({ ...database.prepare("PRAGMA integrity_check").get() }).toEqual({ integrity_check: "ok" });
      // No byte of a file is archived twice.
      const twice = database.prepare(
        "SELECT file_id, start FROM chunk GROUP BY file_id, start HAVING count(*) > 1",
      );
      expect(twice.all()).toEqual([]);
      const paths = database
        .prepare("SELECT path FROM file WHERE gone = 0")
        .all()
        .map(({ path }) => path);
      expect(new Set(paths).size).toBe(paths.length);
      database.close();
    }
  });
});
