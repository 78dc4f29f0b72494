import { existsSync } from "node:fs";
import { join } from "node:path";
import { ingestToken, readAccess } from "../src/server/auth/access.ts";

/**
 * Throws if a daemon's output contains one of its secrets, or the launch token a second time. Every harness that starts a daemon
 * calls it at the end, so that all output of the suite is checked.
 */
export function expectNoSecrets(output: string, data_dir: string): void {
  const file = join(data_dir, "access.json");
  const access = existsSync(file) ? readAccess(file) : undefined;
  const said = (text: string) => output.split(text).length - 1;
  const found: string[] = [];
  for (const [, token = ""] of output.matchAll(/\/launch\?token=([\w-]+)/g)) {
    if (said(token) > 1) found.push("its launch token twice");
  }
  if (access) {
    const secrets = {
      "its API token": access.api_token,
      "its ingest token": ingestToken(access),
      "its cookie key": access.cookie_key.toString("base64url"),
      "a cookie": `verbatim_${access.instance}=`,
    };
    for (const [name, secret] of Object.entries(secrets)) if (said(secret) > 0) found.push(name);
  }
  if (found.length > 0) throw new Error(`A daemon printed ${found.join(", ")}.`);
}
