import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createAcpAgent } from "../../../src/agent/acp/acp-agent.ts";
import { createUpdateReader, SKIPPED } from "../../../src/agent/acp/update-reader.ts";
import type { Agent } from "../../../src/agent/agent.ts";
import { asArray, asObject, asString, type JsonObject } from "../../../src/model/narrow.ts";
import type { Answer, Request } from "../../../src/model/request.ts";
import { sharedData } from "../../shared-data.ts";
import { type ActingHost, createHost, SESSION } from "./acting-host.ts";

const PLAYER = join(import.meta.dirname, "player.mjs");

const own = join(import.meta.dirname, "recordings");
const shared = sharedData("agents", "acp");
const recordings = [own, ...(shared === undefined ? [] : [shared])].flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => join(folder, file)),
);

interface Line {
  from?: "client" | "agent";
  message: JsonObject;
}

interface RecordedPrompt {
  text: string;
  /** The stop reason of the answer; `undefined`: the agent answered with an error. */
  stop?: string;
  updates: JsonObject[];
  asked: { params: JsonObject; option?: string }[];
  cancels: boolean;
  /** The output in order: `thinking`, `text` (once for consecutive chunks), or a call's id at its first mention. */
  order: string[];
}

const KINDS = new Map([
  ["agent_thought_chunk", "thinking"],
  ["agent_message_chunk", "text"],
]);

/** The output and actions that a recording implies for a client, read without any of our code. */
function readRecording(path: string) {
  const lines: Line[] = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  const auth_method = lines
    .filter(({ from, message }) => from === "client" && message.method === "authenticate")
    .map(({ message }) => asString(asObject(message.params)?.methodId))[0];
  const loaded = lines
    .filter(({ from, message }) => from === "client" && message.method === "session/load")
    .map(({ message }) => asString(asObject(message.params)?.sessionId))[0];
  const prompts: RecordedPrompt[] = [];
  let running: { id: unknown; prompt: RecordedPrompt } | undefined;
  const asked = new Map<unknown, { params: JsonObject; option?: string }>();
  const note = (order: string[] | undefined, what: string | undefined, isFirst = true): void => {
    if (what === undefined || order === undefined) return;
    if (isFirst ? !order.includes(what) : order.at(-1) !== what) order.push(what);
  };
  for (const { from, message } of lines) {
    const { method, id } = message;
    const params = asObject(message.params);
    if (from === "client") {
      if (method === "session/prompt") {
        const text = asString(asObject(asArray(params?.prompt)[0])?.text) ?? "";
        const prompt: RecordedPrompt = { text, updates: [], asked: [], cancels: false, order: [] };
        prompts.push(prompt);
        running = { id, prompt };
      } else if (method === "session/cancel" && running !== undefined) running.prompt.cancels = true;
      else if (method === undefined && asked.has(id)) {
        const outcome = asObject(asObject(message.result)?.outcome);
        const question = asked.get(id);
        const option = asString(outcome?.optionId);
        if (question !== undefined && option !== undefined) question.option = option;
      }
    } else if (from === "agent") {
      if (method === "session/update") {
        const update = asObject(params?.update);
        if (running !== undefined && update !== undefined) running.prompt.updates.push(update);
        const kind = KINDS.get(asString(update?.sessionUpdate) ?? "");
        if (asString(asObject(update?.content)?.text) !== "") note(running?.prompt.order, kind, false);
        note(running?.prompt.order, asString(update?.toolCallId));
      } else if (method === "session/request_permission") {
        const question = { params: params ?? {} };
        asked.set(id, question);
        running?.prompt.asked.push(question);
        note(running?.prompt.order, asString(asObject(params?.toolCall)?.toolCallId));
      } else if (method === undefined && running !== undefined && running.id === id) {
        const stop = asString(asObject(message.result)?.stopReason);
        if (stop !== undefined) running.prompt.stop = stop;
        running = undefined;
      }
    }
  }
  return { auth_method, loaded, prompts };
}

/** An address that is notified when the player waits for a cancel. */
async function startBell(ring: () => void): Promise<{ address: string; close(): void }> {
  const server = createServer((_request, response) => {
    ring();
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  // The address of a server on a port is an object.
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, close: () => server.close() };
}

let host: ActingHost | undefined;
let agent: Agent | undefined;
let bell: { close(): void } | undefined;
afterEach(async () => {
  await agent?.close();
  bell?.close();
  host?.remove();
});

/** Drives the recorded agent through all recorded requests. */
async function play(path: string) {
  const recording = readRecording(path);
  let stop = new AbortController();
  const ringing = await startBell(() => stop.abort());
  bell = ringing;
  const answers = recording.prompts.flatMap(({ asked }) => asked.map(({ option }) => option));
  const answer = async (_request: Request, signal: AbortSignal): Promise<Answer | undefined> => {
    const option = answers.shift();
    // If the agent continued without waiting, the answer was too late to matter.
    if (option !== undefined && !signal.aborted) return { option_ids: [option] };
    if (!signal.aborted) await once(signal, "abort");
    return undefined;
  };
  const earlier =
    recording.loaded === undefined
      ? []
      : [
          {
            type: "marker" as const,
            kind: "note" as const,
            at: 1,
            part_id: "5e551011-0000-4000-8000-00000000aaaa",
            title: "began",
            data: { acp_session: { id: recording.loaded, session_id: SESSION } },
          },
        ];
  host = createHost(answer, earlier);
  agent = createAcpAgent({
    host,
    command: process.execPath,
    args: [PLAYER, path, ringing.address],
    env: { PATH: process.env.PATH },
    ...(recording.auth_method === undefined ? {} : { auth_method: recording.auth_method }),
  });
  const outcomes: string[] = [];
  for (const { text } of recording.prompts.length === 0 ? [{ text: "Hello" }] : recording.prompts) {
    stop = new AbortController();
    const { signal } = stop;
    const driven = agent;
    outcomes.push(await host.turn(text, (prompt) => driven.run(prompt, signal)));
  }
  return { host, recording, outcomes };
}

const isText = (update: JsonObject, kind: string) => update.sessionUpdate === kind;
const saidIn = (updates: readonly JsonObject[], kind: string) =>
  updates
    .filter((update) => isText(update, kind))
    .map((update) => asString(asObject(update.content)?.text) ?? "")
    .join("");

describe.each(recordings.map((path) => [basename(path), path] as const))("%s", (_name, path) => {
  it("shows all output of the agent in order, with frames in a valid order", async () => {
    const { host, recording, outcomes } = await play(path);
    expect(host.violations).toEqual([]);
    const parts = host.parts();
    const turns = Array.from(host.transcript().turns).filter((turn) => turn !== undefined);
    expect(turns).toHaveLength(Math.max(1, recording.prompts.length));

    for (const [index, { updates, asked, stop, cancels, order }] of recording.prompts.entries()) {
      const turn = turns[index];
      if (turn === undefined) throw new Error("A turn is missing");
      const mine = parts.slice(turn.first_part, turn.first_part + turn.part_count);

      // Every character of thinking and text of any author; text of sub-agents is in separate markers.
      const asides = mine.flatMap((part) =>
        part.type === "marker" && part.title === "Text of sub-agents" ? [asObject(part.data)] : [],
      );
      const shown = {
        thinking: mine.map((part) => (part.type === "thinking" ? part.thinking : "")).join(""),
        text: mine.map((part) => (part.type === "text" ? part.text : "")).join(""),
      };
      for (const [kind, name] of [
        ["thinking", "agent_thought_chunk"],
        ["text", "agent_message_chunk"],
      ] as const) {
        const aside = asides.map((said) => asString(said?.[kind]) ?? "").join("");
        const said = saidIn(updates, name);
        if (aside === "") expect(shown[kind]).toBe(said);
        else expect([...shown[kind], ...aside].toSorted()).toEqual([...said].toSorted());
      }

      if (asides.length === 0) {
        const inOrder = mine.flatMap((part) =>
          part.type === "tool_call"
            ? part.tool_call_id
            : part.type === "text" || part.type === "thinking"
              ? part.type
              : [],
        );
        expect(inOrder.filter((what, at) => what !== inOrder[at - 1])).toEqual(order);
      }

      // Every call once, at its first mention, with an end.
      const named = [
        ...new Set(
          updates
            .flatMap((update) => asString(update.toolCallId) ?? [])
            .concat(asked.flatMap(({ params }) => asString(asObject(params.toolCall)?.toolCallId) ?? [])),
        ),
      ];
      const calls = mine.flatMap((part) => (part.type === "tool_call" ? [part] : []));
      expect(calls.map((call) => call.tool_call_id).toSorted()).toEqual(named.toSorted());
      for (const call of calls) {
        expect(call.state.status).not.toBe("pending");
        expect(call.state.status).not.toBe("running");
        const last = updates.findLast(
          (update) =>
            update.toolCallId === call.tool_call_id &&
            (update.status === "completed" || update.status === "failed"),
        );
        const result = mine.find(
          (part) => part.type === "tool_result" && part.tool_call_id === call.tool_call_id,
        );
        if (result?.type !== "tool_result") throw new Error("A call has no result");
        for (const item of asArray(last?.content)) {
          const text = asString(asObject(asObject(item)?.content)?.text);
          if (text !== undefined) expect(result.output_text).toContain(text);
          if (asObject(item)?.type === "diff") expect(result.ui_extra?.type).toBe("diff");
        }
        if (last === undefined) expect(result.status).toBe("aborted");
        else if (!cancels && last.status === "completed") expect(result.status).toBe("success");
      }

      // Every question, after its call, with the agent's own options.
      const requests = mine.flatMap((part) => (part.type === "request" ? [part] : []));
      expect(requests).toHaveLength(asked.length);
      for (const [position, { params }] of asked.entries()) {
        const request = requests[position];
        const toolCall = asObject(params.toolCall);
        expect(request?.request.options.map(({ id }) => id)).toEqual(
          asArray(params.options).map((option) => asObject(option)?.optionId),
        );
        expect(request?.request.tool_call_id).toBe(toolCall?.toolCallId);
        const command = asString(asObject(toolCall?.rawInput)?.command);
        if (command !== undefined) expect(request?.request.subject).toContain(command);
        expect(request?.outcome).toBeDefined();
      }

      const plan = updates.findLast(({ sessionUpdate }) => sessionUpdate === "plan");
      if (plan !== undefined && index === recording.prompts.length - 1) {
        expect(host.transcript().todos).toHaveLength(asArray(plan.entries).length);
      }
      const unknown = mine.filter((part) => part.type === "unknown");
      expect(unknown.map(({ raw }) => raw)).toEqual([]);
      if (!cancels && stop !== undefined) expect(outcomes[index]).toBe("completed");
      if (cancels) {
        expect(outcomes[index]).toBe("interrupted");
        expect(mine.at(-1)).toMatchObject({ type: "marker", kind: "interrupt" });
      }
      if (!cancels && stop === undefined) {
        expect(outcomes[index]).toBe("failed");
        expect(mine.at(-1)).toMatchObject({ type: "marker", kind: "error" });
      }
    }
  });

  it("converts every update to a frame, or counts it under the reason why not", () => {
    const { prompts } = readRecording(path);
    let ids = 0;
    const reader = createUpdateReader({
      session_id: SESSION,
      newId: () => `00000000-0000-4000-9000-${String(++ids).padStart(12, "0")}`,
      now: () => 1,
    });
    const count = () => Object.values(reader.skipped).reduce((sum, more) => sum + more, 0);
    for (const { text, updates } of prompts) {
      reader.beginTurn(text);
      let aside = 0;
      for (const update of updates) {
        const before = count();
        const frames = reader.push(update);
        if (frames.length === 0) expect(count() - before, JSON.stringify(update)).toBeGreaterThan(0);
        else aside += frames.filter(({ type }) => type === "unknown").length;
      }
      expect(aside).toBe(0);
      reader.endTurn({ stopReason: "end_turn" });
    }
    expect(Object.keys(reader.skipped).filter((name) => !(name in SKIPPED))).toEqual([]);
  });
});
