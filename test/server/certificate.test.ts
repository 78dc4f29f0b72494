import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, it } from "vitest";
import { followCertificate, readPair } from "../../src/server/certificate.ts";
import { createGuard, newAccess } from "../../src/server/guard.ts";
import { createLive } from "../../src/server/live.ts";
import { type Served, serve } from "../../src/server/serve.ts";
import { eventually } from "../eventually.ts";
import { createMemorySessions } from "./memory-sessions.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-certificate-"));
const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
const canMake = spawnSync("openssl", ["version"]).status === 0;
let served: Served;
const warnings: string[] = [];
let follower: { close(): void };

/** What a tool for certificates leaves behind. */
function make(name: string): { cert: string; key: string } {
  const made = { cert: join(folder, `${name}.cert`), key: join(folder, `${name}.key`) };
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const where = ["-keyout", made.key, "-out", made.cert, "-subj", `/CN=${name}`];
  execFileSync("openssl", ["req", "-x509", ...kind, ...where], { stdio: "ignore" });
  return { cert: readFileSync(made.cert, "utf8"), key: readFileSync(made.key, "utf8") };
}

/** The name in the certificate that is served now. */
function shown(): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: served.port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

beforeAll(async () => {
  if (!canMake) return;
  const first = make("first");
  writeFileSync(files.cert, first.cert);
  writeFileSync(files.key, first.key);
  const tls = readPair(files);
  served = await serve({ host: "127.0.0.1", port: 0, tls }, (port) => ({
    guard: createGuard({ access: newAccess(), origins: [`https://127.0.0.1:${port}`] }),
    app: new Hono(),
    live: createLive({ sessions: createMemorySessions() }),
  }));
  follower = followCertificate({
    files,
    current: tls,
    take: (pair) => served.renew(pair),
    warn: (text) => warnings.push(text),
    every_ms: 5,
  });
});
afterAll(async () => {
  follower?.close();
  await served?.close();
  rmSync(folder, { recursive: true });
});

it.skipIf(!canMake)("a renewed certificate is served from then on, once its key is there too", async () => {
  expect(await shown()).toBe("first");
  const second = make("second");
  writeFileSync(files.cert, second.cert);
  await eventually(() => expect(warnings).toHaveLength(1));
  expect(warnings[0]).toContain("these are no certificate and its key");
  expect(warnings[0]).toContain("The one from before is served on.");
  expect(await shown()).toBe("first");
  writeFileSync(files.key, second.key);
  await eventually(async () => expect(await shown()).toBe("second"));
  rmSync(files.key);
  await eventually(() => expect(warnings).toHaveLength(2));
  expect(warnings[1]).toContain("it cannot be read");
  const third = make("third");
  writeFileSync(files.cert, third.cert);
  writeFileSync(files.key, third.key);
  await eventually(async () => expect(await shown()).toBe("third"));
});
