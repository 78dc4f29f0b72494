import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { SessionSummary } from "../../src/model/session.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { PAGE_SIZE, partsReply, sessionReply } from "../../src/protocol.ts";
import { eventually } from "../eventually.ts";
import type { Daemon, Home } from "./harness.ts";

/** The daemon's REST API for a program, with the token of its data folder, without a browser. */
export interface Rest {
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  /** Another launch link, for one more browser. */
  link(): Promise<string>;
}

export function restOf(home: Home, daemon: Daemon): Rest {
  const access: unknown = JSON.parse(readFileSync(join(home.data, "access.json"), "utf8"));
  if (typeof access !== "object" || access === null || !("api_token" in access)) throw new Error("no token");
  const headers = { authorization: `Bearer ${access.api_token}`, "content-type": "application/json" };
  const ask = async (path: string, body?: unknown): Promise<unknown> => {
    const request =
      body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
    const reply = await fetch(daemon.origin + path, request);
    const answer: unknown = await reply.json();
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    get: (path) => ask(path),
    post: (path, body) => ask(path, body),
    async link() {
      const answer = await ask("/api/link", {});
      if (typeof answer !== "object" || answer === null || !("link" in answer)) throw new Error("no link");
      return String(answer.link);
    },
  };
}

/** Writes a script to a file of the test's; returns the model id that plays it. */
export async function scriptFile(home: Home, name: string, script: unknown): Promise<string> {
  const path = join(home.path, `${name}.json`);
  await writeFile(path, JSON.stringify(script));
  return `file:${path}`;
}

/** Configures the daemon that is started next. */
export async function configure(home: Home, config: unknown): Promise<void> {
  await mkdir(home.data, { recursive: true });
  await writeFile(join(home.data, "config.json"), JSON.stringify(config));
}

/** Starts a scripted session; returns its id. */
export async function begin(rest: Rest, model: string, cwd: string, text = "Go"): Promise<string> {
  const session_id = randomUUID();
  const prompt = { message_id: randomUUID(), text };
  await rest.post("/api/sessions", { session_id, agent: "scripted", model, cwd, prompt });
  return session_id;
}

export async function send(
  rest: Rest,
  session_id: string,
  text: string,
  when: "queue" | "steer" = "queue",
): Promise<void> {
  const prompt = { message_id: randomUUID(), text };
  await rest.post(`/api/sessions/${session_id}/prompts`, { prompt, when });
}

export async function rowOf(rest: Rest, session_id: string): Promise<SessionSummary> {
  return sessionReply.parse(await rest.get(`/api/sessions/${session_id}`)).page.session;
}

/** Waits until the daemon has found the files of sessions: a page that opens one earlier asks for a session that does not exist. */
export async function listed(rest: Rest, ...session_ids: string[]): Promise<void> {
  for (const id of session_ids) await eventually(() => rest.get(`/api/sessions/${id}`));
}

/** Waits until no turn runs. */
export async function idle(rest: Rest, session_id: string, limit_ms = 120_000): Promise<SessionSummary> {
  return await eventually(async () => {
    const row = await rowOf(rest, session_id);
    if (row.control?.state !== "idle") throw new Error(`It is ${row.control?.state}.`);
    return row;
  }, limit_ms);
}

/** Every part of a session, from the daemon's pages of it. */
export async function storedParts(rest: Rest, session_id: string): Promise<TranscriptPart[]> {
  const parts: TranscriptPart[] = [];
  for (;;) {
    const from = parts.length;
    const path = `/api/sessions/${session_id}/parts?from=${from}&to=${from + PAGE_SIZE}`;
    const page = partsReply.parse(await rest.get(path));
    // A page with much data is shorter than requested; and it has the results of its calls, wherever they are.
    for (const { index, part } of page.parts) if (index === parts.length) parts.push(part);
    if (parts.length >= page.part_count) return parts;
    if (parts.length === from) throw new Error(`There is no part ${from} of ${page.part_count}.`);
  }
}

/**
 * Every part of the session that a page shows, as the page itself folded them: read from the React properties of the scrolling
 * element, because the page exposes no state to scripts. `whole`: unloaded parts of a long session are loaded first, in the
 * page's own way; otherwise they are omitted. `pane`: 1 for the run in the second pane.
 */
export async function pageParts(page: Page, whole = true, pane = 0): Promise<TranscriptPart[]> {
  const json = await page.evaluate(
    async ({ load, at }) => {
      interface Held {
        state: { getState(): { transcript?: { parts: Iterable<unknown> & { length: number } } } };
        load(from: number, to: number): Promise<void>;
      }
      interface Fiber {
        memoizedProps: { session?: Held } | null;
        return: Fiber | null;
      }
      const element = document.querySelectorAll(".scroller")[at];
      const key = Object.keys(element ?? {}).find((name) => name.startsWith("__reactFiber$"));
      if (element === undefined || key === undefined) throw new Error("There is no transcript on the page.");
      let fiber: Fiber | null = (element as unknown as Record<string, Fiber>)[key] ?? null;
      while (fiber !== null && typeof fiber.memoizedProps?.session?.state?.getState !== "function")
        fiber = fiber.return;
      const session = fiber?.memoizedProps?.session;
      if (session === undefined) throw new Error("The page holds no session.");
      const parts = () => [...(session.state.getState().transcript?.parts ?? [])];
      for (let attempt = 0; load && attempt < 20 && parts().includes(undefined); attempt += 1)
        await session.load(0, parts().length);
      return JSON.stringify(parts().map((part) => part ?? null));
    },
    { load: whole, at: pane },
  );
  const parts: (TranscriptPart | null)[] = JSON.parse(json);
  return parts.filter((part) => part !== null);
}

/** The content of a part: its type, text and state, without times and authors. */
export function said(part: TranscriptPart): string {
  switch (part.type) {
    case "thinking":
      return `thinking ${part.thinking}`;
    case "text":
      return `text ${part.text}`;
    case "prompt":
      return `prompt ${part.parts.map((one) => (one.type === "text" ? one.text : one.type)).join()}`;
    case "tool_call":
      return `call ${part.tool_name} ${part.arguments_json} ${part.state.status}`;
    case "tool_result":
      return `result ${part.tool_name} ${part.status} ${part.output_text}`;
    case "marker":
      return `marker ${part.kind} ${part.title}`;
    case "request":
      return `request ${part.request.subject ?? part.request.title} ${part.outcome ?? "waits"}`;
    case "step_start":
    case "step_finish":
    case "image":
    case "file":
    case "unknown":
    case "legacy":
      return part.type;
    default:
      return part satisfies never;
  }
}

/** Order violations of a session in which nothing runs any more; empty if there are none. */
export function disorder(parts: readonly TranscriptPart[], session_id: string): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  for (const [index, part] of parts.entries()) {
    const problem = (text: string) => problems.push(`${index} ${said(part).slice(0, 60)}: ${text}`);
    const id = `${part.message_id} ${part.id}`;
    if (ids.has(id)) problem("stands here twice");
    ids.add(id);
    if (part.session_id !== session_id) problem("is of another session");
    if ("open" in part && part.open === true) problem("is open");
    if (part.type === "tool_call") {
      if (part.state.status === "pending" || part.state.status === "running") problem(part.state.status);
      const result = parts[part.result_index ?? -1];
      if (part.result_index !== undefined && part.result_index <= index)
        problem("its result comes before it");
      if (part.result_index !== undefined && result?.type !== "tool_result") problem("its result is none");
      else if (result?.type === "tool_result" && result.tool_call_id !== part.tool_call_id)
        problem("has another call's result");
    }
    if (part.type === "tool_result" && part.call_index === undefined) problem("has no call");
  }
  return problems;
}
