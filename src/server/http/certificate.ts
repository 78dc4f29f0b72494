import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { attempt } from "../usage-error.ts";

/** A certificate and its key: their PEM texts, or the paths of their files. */
export interface CertificatePair {
  cert: string;
  key: string;
}

/** Reads both files and checks that they belong together. Throws `UsageError`. */
export function readPair({ cert, key }: CertificatePair): CertificatePair {
  const remedy = "Name a file that you may read.";
  const read = (file: string) =>
    attempt(() => readFileSync(file, "utf8"), `${file}: it cannot be read`, remedy);
  const pair = { cert: read(cert), key: read(key) };
  attempt(
    () => check(pair),
    `--cert ${cert}, --key ${key}: these are no certificate and its key`,
    "Name two PEM files that belong together, the key without a passphrase.",
  );
  return pair;
}

function check({ cert, key }: CertificatePair): void {
  // A server accepts empty ones silently.
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error("the key is not that of the certificate");
  }
  createSecureContext({ cert, key });
}
