import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readAccess } from "../../src/server/auth/access.ts";
import { DAEMON_SCRIPT } from "../daemon-script.ts";
import { bareEnvironment } from "../environment.ts";
import { eventually } from "../eventually.ts";

/** A daemon in a child process, with an empty home folder. */
export interface SpawnedDaemon {
  origin: string;
  /** The token for pushing sessions. */
  token: string;
  /** The bearer token of the whole API. */
  api_token: string;
  home: string;
  data: string;
  close(): Promise<void>;
}

export async function spawnDaemon(): Promise<SpawnedDaemon> {
  const home = mkdtempSync(join(tmpdir(), "verbatim-daemon-"));
  mkdirSync(join(home, "share"));
  const env = { ...bareEnvironment, HOME: home, USERPROFILE: home, XDG_DATA_HOME: join(home, "share") };
  const args = ["--disable-warning=ExperimentalWarning", DAEMON_SCRIPT];
  const daemon = spawn(process.execPath, [...args, "--port", "0", "--no-samples"], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [daemon.stdout, daemon.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  const address = await eventually(() => {
    const found = /^http:\S+$/m.exec(output)?.[0];
    if (found === undefined) throw new Error(`The daemon has printed no address: ${output}`);
    return new URL(found);
  });
  const { stdout } = spawnSync(process.execPath, [...args, "token"], { env, encoding: "utf8" });
  const api_token = readAccess(join(home, "share/verbatim/access.json"))?.api_token;
  if (api_token === undefined) throw new Error(`The daemon has no access.json: ${output}`);
  return {
    api_token,
    origin: address.origin,
    token: stdout.trim(),
    home,
    data: join(home, "share/verbatim"),
    async close() {
      const ended = new Promise((done) => daemon.once("close", done));
      daemon.kill();
      await ended;
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
