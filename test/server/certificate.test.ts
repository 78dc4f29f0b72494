import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newAccess } from "../../src/server/auth/access.ts";
import { createGuard } from "../../src/server/auth/guard.ts";
import { type CertificatePair, readPair } from "../../src/server/http/certificate.ts";
import { serve } from "../../src/server/http/serve.ts";
import { createLive } from "../../src/server/live/live.ts";
import { createMemorySessions } from "./memory-sessions.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-certificate-"));
const canMake = spawnSync("openssl", ["version"]).status === 0;
let files: CertificatePair;
let others: CertificatePair;

/** A self-signed certificate and its key, as files. */
function make(name: string): CertificatePair {
  const made = { cert: join(folder, `${name}.cert`), key: join(folder, `${name}.key`) };
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const where = ["-keyout", made.key, "-out", made.cert, "-subj", `/CN=${name}`];
  execFileSync("openssl", ["req", "-x509", ...kind, ...where], { stdio: "ignore" });
  return made;
}

beforeAll(() => {
  if (!canMake) return;
  files = make("first");
  others = make("second");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(!canMake)("a certificate and its key", () => {
  it("are used for TLS", async () => {
    const served = await serve({ host: "127.0.0.1", port: 0, tls: readPair(files) }, (port) => ({
      guard: createGuard({ access: newAccess(), origins: [`https://127.0.0.1:${port}`] }),
      app: new Hono(),
      live: createLive({ sessions: createMemorySessions() }),
    }));
    const name = await new Promise((resolve, reject) => {
      const options = { port: served.port, host: "127.0.0.1", rejectUnauthorized: false };
      const socket = connect(options, () => {
        resolve(socket.getPeerCertificate().subject.CN);
        socket.destroy();
      });
      socket.on("error", reject);
    });
    await served.close();
    expect(name).toBe("first");
  });

  it("are rejected if they do not belong together", () => {
    expect(() => readPair({ cert: files.cert, key: others.key })).toThrow("not a certificate and its key");
  });

  it("are rejected if a file cannot be read", () => {
    expect(() => readPair({ cert: files.cert, key: join(folder, "none.key") })).toThrow("cannot be read");
  });
});
