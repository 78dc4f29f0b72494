import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { messageOf } from "../model/narrow.ts";
import { attempt } from "./usage-error.ts";

const LOOK_MS = 60_000;

/** A certificate and its key: their texts (PEM), or the files in which those stand. */
export interface CertificatePair {
  cert: string;
  key: string;
}

/** Reads both files; a `UsageError` says why they cannot be served. */
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
  // A server takes empty ones without a word.
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error("the key is not that of the certificate");
  }
  createSecureContext({ cert, key });
}

export interface FollowedCertificate {
  files: CertificatePair;
  /** What stood in them at first. */
  current: CertificatePair;
  take(renewed: CertificatePair): void;
  warn(text: string): void;
  /** How often it is looked at, in milliseconds; a minute where it is absent. */
  every_ms?: number;
}

/** Looks at a certificate's files now and then, for it is renewed while the daemon runs: hands on each new pair that fits. */
export function followCertificate({ files, current, take, warn, every_ms = LOOK_MS }: FollowedCertificate): {
  close(): void;
} {
  let known = current;
  let failing: string | undefined;
  let told: string | undefined;
  const look = () => {
    try {
      const found = readPair(files);
      failing = told = undefined;
      if (found.cert === known.cert && found.key === known.key) return;
      take(found);
      known = found;
    } catch (error) {
      const reason = messageOf(error);
      // Between the writing of the one file and the other they do not fit: that is over by the next look.
      if (reason === failing && reason !== told) {
        told = reason;
        warn(`${reason} The one from before is served on.`);
      }
      failing = reason;
    }
  };
  const timer = setInterval(look, every_ms);
  return { close: () => clearInterval(timer) };
}
