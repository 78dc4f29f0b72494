import { flushCompileCache } from "node:module";
import { createSessions } from "../../src/server/import/catalog.ts";
import { frameFormat } from "./frame-source.ts";
import { storedIn } from "./stored-in.ts";

/** A daemon without a server, to be killed: `node archiving-daemon.ts AGENT_FOLDER DATA_FOLDER`. Prints dots continuously. */
const [agent = "", dataFolder = ""] = process.argv.slice(2);
// A killed process leaves no compiled code for the next one.
flushCompileCache();
createSessions({
  formats: [frameFormat],
  roots: [{ format: frameFormat, path: agent }],
  ...storedIn(dataFolder),
  hints: false,
  timing: { hot: 5, list: 5, last_line: 5, publish: 1, persist: 2, retry: 20, tick: 5 },
});
setInterval(() => process.stdout.write("."), 1);
