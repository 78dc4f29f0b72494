import type { AgentHost } from "../src/agent/agent.ts";
import { createLoopAgent } from "../src/agent/loop.ts";
import type { Frame } from "../src/model/frames/frame.ts";
import { createHistory } from "../src/model/messages/history-collector.ts";
import { accumulate } from "../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../src/model/transcript/transcript-state.ts";
import { anthropicMessages } from "../src/providers/anthropic/index.ts";
import { createEventReader } from "../src/providers/event-reader.ts";
import type { Provider } from "../src/providers/provider.ts";

/**
 * The cost of one model delta in the agent loop, from the provider's bytes to the encoded frame: `node bench/agent.bench.ts`. The
 * baseline is `JSON.parse` of the same events. The bytes are in memory: no network, no disk. Each row includes the work of the
 * previous one. Prints a table on standard error and one line of JSON on standard output. Only the ratios within a run are
 * meaningful. The stages alternate, so that a slow machine affects all of them.
 */
const DELTAS = 10_000;
const ROUNDS = 25;
const CHUNK_BYTES = 1_400;

const session_id = "00000001-0000-4000-8000-000000000001";

/** An answer as Anthropic's servers send it: a thought and a text in deltas of a few words. */
function answer(): { datas: string[]; chunks: Uint8Array[] } {
  const datas: string[] = [];
  const say = (value: object) => datas.push(JSON.stringify(value));
  const usage = { input_tokens: 100, output_tokens: 1 };
  say({
    type: "message_start",
    message: { id: "msg_1", type: "message", role: "assistant", model: "claude", content: [], usage },
  });
  for (const [index, kind] of (["thinking", "text"] as const).entries()) {
    const block = kind === "text" ? { type: kind, text: "" } : { type: kind, thinking: "", signature: "" };
    say({ type: "content_block_start", index, content_block: block });
    for (let count = 0; count < DELTAS / 2; count += 1) {
      const words = `word ${count} of “it”, `;
      const delta =
        kind === "text" ? { type: "text_delta", text: words } : { type: "thinking_delta", thinking: words };
      say({ type: "content_block_delta", index, delta });
    }
    say({ type: "content_block_stop", index });
  }
  say({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: DELTAS } });
  say({ type: "message_stop" });
  const events = datas.map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`);
  const bytes = new TextEncoder().encode(events.join(""));
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) chunks.push(bytes.subarray(at, at + CHUNK_BYTES));
  return { datas, chunks };
}

const { datas, chunks } = answer();

/** Answers every call with the same bytes. */
const provider: Provider = {
  id: "bench",
  title: "Bench",
  async stream({ message_id, model }, { emit, now = Date.now }) {
    const context = {
      session_id,
      message_id,
      provider: "bench",
      wire: "anthropic-messages",
      model,
      now,
    } as const;
    const decoder = anthropicMessages.createDecoder(context);
    const reader = createEventReader((data, event) => {
      for (const frame of decoder.push(data, event)) emit(frame);
    });
    for (const chunk of chunks) reader.push(chunk);
    reader.end();
    const { frames, reply } = decoder.end({ type: "end" });
    for (const frame of frames) emit(frame);
    return reply;
  },
};

/** Runs one turn of the loop. `take`: called with each frame. */
async function turn(take: (frame: Frame) => void): Promise<void> {
  const host: AgentHost = {
    session_id,
    cwd: "/nowhere",
    depth: 0,
    files: "/nowhere",
    private_folder: "/nowhere/data",
    now: Date.now,
    claimAgentSession: () => true,
    emit: take,
    stored: async () => {},
    history: () => [],
    ask: async () => undefined,
    takeSteering: () => [],
    startRun: async () => Promise.reject(new Error("no run was expected")),
  };
  const agent = createLoopAgent({ host, provider, model: "claude", tools: [] });
  const prompt = { message_id: session_id, parts: [] };
  const outcome = await agent.run(prompt, new AbortController().signal);
  if (outcome !== "completed") throw new Error(`The turn ${outcome}`);
}

/** Prevents engines from optimizing the work away. */
let counted = 0;

const stages: { name: string; run: () => Promise<void> }[] = [
  {
    name: "floor: JSON.parse",
    async run() {
      for (const data of datas) counted += Object.keys(JSON.parse(data)).length;
    },
  },
  {
    name: "read events",
    async run() {
      const reader = createEventReader((data) => {
        counted += Object.keys(JSON.parse(data)).length;
      });
      for (const chunk of chunks) reader.push(chunk);
      reader.end();
    },
  },
  {
    name: "decode to frames, through the loop",
    run: () =>
      turn(() => {
        counted += 1;
      }),
  },
  {
    name: "encode each frame",
    run: () =>
      turn((frame) => {
        counted += JSON.stringify(frame).length;
      }),
  },
  {
    name: "write history and fold beside it",
    run() {
      const history = createHistory(session_id);
      let transcript = emptyTranscript(session_id);
      return turn((frame) => {
        counted += JSON.stringify(frame).length;
        counted += history.push(frame).length;
        transcript = accumulate(transcript, frame);
      });
    },
  },
];

const samples = stages.map((): number[] => []);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [index, { run }] of stages.entries()) {
    const begin = performance.now();
    await run();
    samples[index]?.push(((performance.now() - begin) * 1e6) / DELTAS);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
}

const times = samples.map(median);
const floor = times[0] ?? 1;
const results = stages.map(({ name }, index) => ({
  stage: name,
  ns_per_delta: Math.round(times[index] ?? 0),
  ratio: Number(((times[index] ?? 0) / floor).toFixed(2)),
}));
console.error("stage                                 ns/delta   of the floor");
for (const { stage, ns_per_delta, ratio } of results) {
  console.error(`${stage.padEnd(37)} ${String(ns_per_delta).padEnd(10)} ${ratio}`);
}
console.log(
  JSON.stringify({ bench: "agent", deltas: DELTAS, rounds: ROUNDS, counted: counted > 0, results }),
);
