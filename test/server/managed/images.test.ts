import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../../eventually.ts";
import { EVENT_STREAM, startServer } from "../../providers/replay-server.ts";
import { startDaemon } from "./daemon.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

it("sends an image that a model reads to it, and again in a fork of the session", async () => {
  const folder = mkdtempSync(join(tmpdir(), "images-"));
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  const server = await startServer((response, _, number) => {
    const call = { index: 0, id: "call_1", function: { name: "read", arguments: '{"path":"red.png"}' } };
    const delta = number === 1 ? { tool_calls: [call] } : { content: "Red." };
    const finish_reason = number === 1 ? "tool_calls" : "stop";
    response.writeHead(200, EVENT_STREAM);
    response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  });
  onTestFinished(() => server.close());
  writeFileSync(join(folder, "red.png"), Buffer.from(PNG, "base64"));
  mkdirSync(join(folder, "data"));
  const config = { providers: { mine: { base_url: server.url, models: ["small"] } } };
  writeFileSync(join(folder, "data/config.json"), JSON.stringify(config));
  const daemon = await startDaemon(folder);
  onTestFinished(() => daemon.kill("SIGKILL"));

  const session_id = randomUUID();
  const prompt = (text: string) => ({ message_id: randomUUID(), text });
  await daemon.post("/api/sessions", {
    session_id,
    agent: "mine",
    cwd: folder,
    prompt: prompt("What is on red.png?"),
  });
  await eventually(() => expect(server.received).toHaveLength(2));
  expect(server.received[1]?.body).toContain(`data:image/png;base64,${PNG}`);
  const second = prompt("And now?");
  await daemon.post(`/api/sessions/${session_id}/prompts`, { prompt: second, when: "queue" });
  await eventually(() => expect(server.received).toHaveLength(3));
  const fork = { session_id: randomUUID(), before: second.message_id, prompt: prompt("Or now?") };
  await daemon.post(`/api/sessions/${session_id}/fork`, fork);
  await eventually(() => expect(server.received).toHaveLength(4));
  expect(server.received[3]?.body).toContain("Or now?");
  expect(server.received[3]?.body).toContain(`data:image/png;base64,${PNG}`);
}, 60_000);
