import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { attempt } from "../usage-error.ts";

/** A certificate and its key: their PEM texts, or the paths of their files. */
export interface CertificatePair {
  cert: string;
  key: string;
}

/** Reads both files and checks that the key belongs to the certificate. Throws `UsageError`. */
export function readPair({ cert, key }: CertificatePair): CertificatePair {
  const remedy = "Choose a file that you can read.";
  const read = (file: string) => attempt(() => readFileSync(file, "utf8"), `${file}: cannot be read`, remedy);
  const pair = { cert: read(cert), key: read(key) };
  attempt(
    () => check(pair),
    `--cert ${cert}, --key ${key}: not a certificate and its key`,
    "Use a matching pair of PEM files, with a key without a passphrase.",
  );
  return pair;
}

function check({ cert, key }: CertificatePair): void {
  // A server silently accepts empty files.
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error("the key does not belong to the certificate");
  }
  createSecureContext({ cert, key });
}
