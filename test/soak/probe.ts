// Loaded into the daemon of the soak beside its program: tells what the daemon holds, when it is asked.
import { getHeapSpaceStatistics, setFlagsFromString, writeHeapSnapshot } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

/** What the daemon holds after a collection of garbage, in bytes. */
export interface Held {
  heap: number;
  /** Of these, compiled code: it grows for an hour, and is forgotten again. */
  code: number;
  /** Buffers and the like. */
  external: number;
  rss: number;
  /** What keeps it running, by kind: sockets, timers, watched folders. */
  resources: Record<string, number>;
}

if (isMainThread && process.send) {
  setFlagsFromString("--expose-gc");
  // The flag makes the function for contexts that are made after it.
  const collect = runInNewContext("gc") as () => void;
  process.on("message", (wish: { snapshot?: string }) => {
    collect();
    if (wish.snapshot !== undefined) writeHeapSnapshot(wish.snapshot);
    const { heapUsed, external, rss } = process.memoryUsage();
    const resources: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
    const code = getHeapSpaceStatistics()
      .filter(({ space_name }) => /^(?:code|trusted)_/.test(space_name))
      .reduce((bytes, { space_used_size }) => bytes + space_used_size, 0);
    process.send?.({ heap: heapUsed, code, external, rss, resources } satisfies Held);
  });
  // Whoever asked is gone: nobody would end the daemon.
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  // The question may come at any time, and never keeps the daemon from its end.
  process.channel?.unref();
}
