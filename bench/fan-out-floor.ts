import { fork } from "node:child_process";
import { connect, createServer, type Socket } from "node:net";

/**
 * The baseline of fan-out.bench.ts: the same bytes, at the same rate, to the same number of bare sockets. Run directly, this file
 * is the receiving process. Resolves with the share of a core used for writing.
 */
export async function bareSockets(
  viewers: number,
  message_bytes: number,
  messages: number,
  pause_ms: number,
): Promise<number> {
  const sockets: Socket[] = [];
  const { promise: all, resolve: connected } = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    if (sockets.push(socket) === viewers) connected();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  const ends = fork(import.meta.filename, [String(address.port), String(viewers)]);
  await all;
  const bytes = Buffer.alloc(message_bytes, "a");
  const cpu = process.cpuUsage();
  const started = performance.now();
  for (let sent = 0; sent < messages; sent++) {
    for (const socket of sockets) socket.write(bytes);
    const due = started + (sent + 1) * pause_ms;
    await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
  }
  const used = process.cpuUsage(cpu);
  const wall = performance.now() - started;
  ends.kill();
  for (const socket of sockets) socket.destroy();
  server.close();
  return (used.user + used.system) / 1_000 / wall;
}

if (import.meta.main) {
  const [port, count] = process.argv.slice(2).map(Number);
  for (let n = 0; n < (count ?? 0); n++) connect(port ?? 0, "127.0.0.1").on("data", () => {});
}
