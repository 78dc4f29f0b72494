import { fork } from "node:child_process";
import { partId } from "../src/model/uuid.ts";
import { outputChannel } from "../src/protocol.ts";
import { createMemorySessions } from "../test/server/memory-sessions.ts";
import { startTestServer } from "../test/server/test-server.ts";
import { bareSockets } from "./fan-out-floor.ts";
import { load, report, round } from "./measure.ts";

/**
 * One session at 300 frames per second with 1,000 clients: the daemon's own live channel on real sockets, with all clients in one
 * other process. `node bench/fan-out.bench.ts [viewers] [seconds]`
 */
const VIEWERS = Number(process.argv[2] ?? 1_000);
const SECONDS = Number(process.argv[3] ?? 5);
const RATE = 300;

const session_id = "00000001-0000-4000-8000-000000000001";
const sessions = createMemorySessions();
const message_id = partId(session_id, 0);
sessions.add(session_id, [{ type: "message.start", session_id, at: Date.now(), message_id }]);
const httpServer = await startTestServer({ sessions });

const clients = fork(new URL("fan-out-clients.ts", import.meta.url), [
  String(httpServer.port),
  httpServer.cookie,
  httpServer.origin,
  outputChannel(session_id),
  String(VIEWERS),
]);
const received = <Message>(): Promise<Message> =>
  new Promise((resolve) => clients.once("message", (message) => resolve(message as Message)));
await received();

clients.send("begin");
const cpu = process.cpuUsage();
const started = performance.now();
let sent = 0;
await new Promise<void>((resolve) => {
  const tick = (): void => {
    const due = Math.min(RATE * SECONDS, Math.floor(((performance.now() - started) * RATE) / 1_000));
    for (; sent < due; sent++) {
      const text = `${performance.timeOrigin + performance.now()} twenty-four more bytes `;
      sessions.push(session_id, [{ type: "message.delta", session_id, at: Date.now(), kind: "text", text }]);
    }
    if (sent < RATE * SECONDS) setTimeout(tick, 3);
    else resolve();
  };
  tick();
});
await new Promise((resolve) => setTimeout(resolve, 300));
const used = process.cpuUsage(cpu);
const wall = performance.now() - started;
clients.send("end");
const result = await received<{
  delivered: number;
  messages: number;
  bytes: number;
  p50: number;
  p95: number;
  cpu_ms: number;
}>();
clients.kill();
await httpServer.close();
const messages = Math.round(result.messages / VIEWERS);
const floor = await bareSockets(
  VIEWERS,
  Math.round(result.bytes / result.messages),
  messages,
  (SECONDS * 1_000) / messages,
);

const cores = (used.user + used.system) / 1_000 / wall;
report(
  "fan-out",
  [
    {
      row: `${VIEWERS.toLocaleString("en")} viewers of ${RATE} frames/s`,
      goal: "≤ 0.35 core, all delivered, p95 ≤ 20 ms",
      figures: {
        "cores of the daemon": round(cores),
        "cores of bare sockets": round(floor),
        "daemon / bare sockets": round(cores / floor),
        delivered: `${round((100 * result.delivered) / (sent * VIEWERS))} %`,
        "p50 ms": round(result.p50),
        "p95 ms": round(result.p95),
      },
    },
  ],
  { sent, viewers: VIEWERS, wall_ms: wall, clients: result, load: load() },
);
process.exit();
