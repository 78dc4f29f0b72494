// Loaded into the daemon of the soak test in addition to its program: reports the daemon's resources on request.
import { getHeapSpaceStatistics, setFlagsFromString, writeHeapSnapshot } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

/** The daemon's memory after a garbage collection, in bytes. */
export interface Held {
  heap: number;
  /** The compiled code among it, which grows for an hour and is then discarded. */
  code: number;
  /** Buffers and the like. */
  external: number;
  rss: number;
  /** Resources that keep it running, by kind: sockets, timers, watched folders. */
  resources: Record<string, number>;
}

if (isMainThread && process.send) {
  setFlagsFromString("--expose-gc");
  // The flag adds the function to contexts that are created later.
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
  // The test has ended, so nobody else would end the daemon.
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  // A request may come at any time, but must not keep the daemon running.
  process.channel?.unref();
}
