import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { asArray, asObject, asText } from "../../../src/model/narrow.ts";
import { eventually } from "../../eventually.ts";
import { type SpawnedDaemon, spawnDaemon } from "../spawned-daemon.ts";
import { bash, type HookProcess, permissionRequest, startHook } from "./hook-process.ts";
import { ATTEMPTS } from "./self-approval.ts";

// An agent asks for approval of its call through a real hook, and tries from its own shell to give it itself. If it succeeded, the
// hook would print the decision "allow".

const SESSION = "7d1f2c44-0b0e-4f0a-9c39-1d2d6f5f3a72";
const PASSPHRASE = "only the person knows it";
const ALLOWED = '"behavior":"allow"';
/** Number of attempts at the same request. */
const TOGETHER = 8;

let daemon: SpawnedDaemon;

async function call(path: string, body?: object): Promise<Record<string, unknown>> {
  const reply = await fetch(`${daemon.origin}${path}`, {
    headers: { authorization: `Bearer ${daemon.api_token}`, "content-type": "application/json" },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  return asObject(await reply.json()) ?? {};
}

interface Held {
  hook: HookProcess;
  request: string;
  digest: string;
}

/** The agent asks for approval. Returns once the daemon holds the request. */
async function ask(): Promise<Held> {
  const hook = startHook(daemon.data, permissionRequest(SESSION, bash("touch made.txt")));
  return await eventually(async () => {
    const { requests } = await call(`/api/sessions/${SESSION}/open-requests`);
    const [open] = asArray(requests).map(asObject);
    const request = asText(open?.request_id);
    const digest = asText(open?.digest);
    if (request === undefined || digest === undefined) throw new Error("Nothing is held.");
    return { hook, request, digest };
  });
}

/** Runs attempts in the agent's shell, one after the other. Resolves with the exit code and what they printed. */
function attempt(
  names: readonly string[],
  { request, digest }: Held,
): Promise<{ printed: string; code: number | null }> {
  const script = join(import.meta.dirname, "self-approval.ts");
  const command = '"$NODE" --disable-warning=ExperimentalWarning "$SCRIPT" "$@"';
  const child = spawn("sh", ["-c", command, "sh", ...names], {
    env: {
      ...process.env,
      NODE: process.execPath,
      SCRIPT: script,
      ORIGIN: daemon.origin,
      DATA: daemon.data,
      SESSION,
      REQUEST: request,
      DIGEST: digest,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  return new Promise((resolve) => child.once("close", (code) => resolve({ printed, code })));
}

const answer = ({ request, digest }: Held, unlock_token?: string) =>
  call(`/api/terminal-requests/${request}`, {
    digest,
    answer: { option_ids: ["allow"] },
    ...(unlock_token !== undefined && { unlock_token }),
  });

beforeAll(async () => {
  daemon = await spawnDaemon();
  const folder = join(daemon.home, ".claude/projects/-w-tide");
  mkdirSync(folder, { recursive: true });
  const prompt = {
    type: "user",
    uuid: "5a0c7c1e-1b7f-4a55-9a0e-0b8a4de0a001",
    parentUuid: null,
    sessionId: SESSION,
    timestamp: new Date().toISOString(),
    cwd: "/w/tide",
    message: { role: "user", content: "Make a file" },
  };
  writeFileSync(join(folder, `${SESSION}.jsonl`), `${JSON.stringify(prompt)}\n`);
  await call("/api/attach/claude-code/install", {});
});
afterAll(() => daemon.close());

it("without a passphrase, the agent's shell can approve with the API token", async () => {
  const held = await ask();
  expect(await attempt(["the API token"], held)).toMatchObject({ code: 0 });
  expect((await held.hook.ended).output).toContain(ALLOWED);
});

it("with a passphrase, only an unlocked page can approve: no attempt of the agent's shell does", async () => {
  await call("/api/answer-passphrase", { next: PASSPHRASE });
  const { token } = await call("/api/answer-passphrase/unlock", { passphrase: PASSPHRASE });
  const names = [...ATTEMPTS.keys()];
  expect(names.length).toBeGreaterThanOrEqual(50);
  for (let from = 0; from < names.length; from += TOGETHER) {
    const held = await ask();
    expect(await attempt(names.slice(from, from + TOGETHER), held)).toMatchObject({ code: 0 });
    held.hook.kill();
    expect((await held.hook.ended).output).toBe("");
    await eventually(async () =>
      expect(await call(`/api/sessions/${SESSION}/open-requests`)).toEqual({ requests: [] }),
    );
  }
  const held = await ask();
  await answer(held, String(token));
  expect((await held.hook.ended).output).toContain(ALLOWED);
});
