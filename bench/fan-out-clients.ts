import { WebSocket } from "ws";
import type { ServerMessage } from "../src/protocol.ts";

/** The viewers of fan-out.bench.ts, in a separate process. */
const [port, cookie = "", origin = "", channel = "", count] = process.argv.slice(2);
let delivered = 0;
let received = 0;
let bytes = 0;
let cpu = process.cpuUsage();
const waits: number[] = [];

const connect = (n: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/live`, { headers: { cookie, origin } });
    socket.on("open", () => socket.send(JSON.stringify({ type: "subscribe", channel })));
    socket.on("error", reject);
    let messages = 0;
    socket.on("message", (data) => {
      const text = data.toString();
      if (text.startsWith('{"type":"synced"')) resolve();
      if (!text.startsWith('{"type":"frames"')) return;
      // Only counts frames, and reads a few for their time.
      delivered += text.split('"message.delta"').length - 1;
      messages += 1;
      received += 1;
      bytes += text.length;
      if ((messages + n) % 16 !== 0) return;
      const message = JSON.parse(text) as ServerMessage;
      const frame = message.type === "frames" ? message.frames.at(-1)?.frame : undefined;
      if (frame?.type === "message.delta")
        waits.push(performance.timeOrigin + performance.now() - Number.parseFloat(frame.text));
    });
  });

for (let n = 0; n < Number(count); n += 50)
  await Promise.all(
    Array.from({ length: Math.min(50, Number(count) - n) }, (_, index) => connect(n + index)),
  );
process.send?.("ready");
process.on("message", (message) => {
  if (message === "begin") {
    delivered = 0;
    received = 0;
    bytes = 0;
    waits.length = 0;
    cpu = process.cpuUsage();
  }
  if (message === "end") {
    const used = process.cpuUsage(cpu);
    waits.sort((one, other) => one - other);
    const at = (share: number): number => waits[Math.floor(waits.length * share)] ?? Number.NaN;
    process.send?.({
      delivered,
      messages: received,
      bytes,
      p50: at(0.5),
      p95: at(0.95),
      cpu_ms: (used.user + used.system) / 1_000,
    });
  }
});
