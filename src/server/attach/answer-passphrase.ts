import { createHash, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { asObject, asText, messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { MIN_PASSPHRASE } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import { writeAtomic } from "./write-atomic.ts";

/**
 * A passphrase that a person has to enter in each page before it can answer agents. Programs that run as the same user can read the
 * data folder and so sign in, but they find only a hash of the passphrase there. The tokens of unlocked pages are kept in memory.
 */
export interface AnswerPassphrase {
  isSet(): boolean;
  /** Returns a token for a page. Throws `Refused` if the passphrase is wrong. */
  unlock(passphrase: string): Promise<string>;
  /**
   * Sets the passphrase, or removes it without `next`. Pages have to unlock again. Throws `Refused` if `current` is wrong, or if the
   * file cannot be written; the old passphrase is then still valid.
   */
  change(current: string | undefined, next: string | undefined): Promise<void>;
  /** Throws `Refused` if a passphrase is set and the token is not one of an unlocked page. */
  requireUnlocked(token: string | undefined): void;
}

const FILE = "answer-passphrase.json";
/** Cost of a guess: about 0.1 s and 32 MB. */
const SCRYPT: ScryptOptions = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Number of wrong passphrases per minute after which all are refused until the minute is over. */
const MAX_FAILURES = 10;
const FAILURE_WINDOW_MS = 60_000;
/** Number of unlocked pages. The oldest has to unlock again. */
const MAX_TOKENS = 100;

interface StoredHash {
  salt: Buffer;
  hash: Buffer;
}

/** Reads the passphrase's hash once: changes of the file by other programs have no effect on a running daemon. */
export function openAnswerPassphrase(data_dir: string, now: () => number = Date.now): AnswerPassphrase {
  const file = join(data_dir, FILE);
  let stored = readHash(file);
  let failures: number[] = [];
  const tokens: Buffer[] = [];

  /** Counted before the hash is computed, so that parallel guesses do not get more attempts. */
  async function requirePassphrase(given: string): Promise<void> {
    if (stored === "unreadable")
      throw new Refused(
        409,
        "passphrase_unreadable",
        daemonText("passphrase_unreadable", { file }),
        daemonText("delete_passphrase"),
      );
    failures = failures.filter((at) => Math.abs(now() - at) < FAILURE_WINDOW_MS);
    if (failures.length >= MAX_FAILURES)
      throw new Refused(429, "too_many", daemonText("too_many_passphrases"), daemonText("wait_a_minute_try"));
    const attempt = now();
    failures.push(attempt);
    if (stored === undefined || !timingSafeEqual(await hashOf(given, stored.salt), stored.hash))
      throw new Refused(403, "passphrase", daemonText("passphrase_wrong"));
    failures.splice(failures.indexOf(attempt), 1);
  }

  return {
    isSet: () => stored !== undefined,
    async unlock(passphrase) {
      await requirePassphrase(passphrase);
      const token = randomBytes(32).toString("base64url");
      tokens.push(digest(token));
      if (tokens.length > MAX_TOKENS) tokens.shift();
      return token;
    },
    async change(current, next) {
      if (stored !== undefined) await requirePassphrase(current ?? "");
      if (next !== undefined && next.length < MIN_PASSPHRASE)
        throw new Refused(400, "body", daemonText("passphrase_short", { least: MIN_PASSPHRASE }));
      const changed = next === undefined ? undefined : await newHash(next);
      try {
        if (changed === undefined) rmSync(file, { force: true });
        else writeAtomic(file, textOf(changed), 0o600);
      } catch (error) {
        throw new Refused(
          500,
          "not_stored",
          daemonText("passphrase_not_changed", { error: messageOf(error) }),
        );
      }
      stored = changed;
      tokens.length = 0;
    },
    requireUnlocked(token) {
      if (stored === undefined) return;
      const given = digest(token ?? "");
      if (!tokens.some((one) => timingSafeEqual(one, given)))
        throw new Refused(
          403,
          "answer_locked",
          daemonText("passphrase_needed"),
          daemonText("enter_passphrase"),
        );
    },
  };
}

const digest = (token: string): Buffer => createHash("sha256").update(token).digest();

const hashOf = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase.normalize("NFKC"), salt, HASH_BYTES, SCRYPT, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });

async function newHash(passphrase: string): Promise<StoredHash> {
  const salt = randomBytes(SALT_BYTES);
  return { salt, hash: await hashOf(passphrase, salt) };
}

const textOf = ({ salt, hash }: StoredHash): string =>
  `${JSON.stringify({ salt: salt.toString("base64url"), hash: hash.toString("base64url") })}\n`;

const bytesOf = (value: unknown): Buffer => Buffer.from(asText(value) ?? "", "base64url");

/** A damaged file keeps answers locked. */
function readHash(file: string): StoredHash | "unreadable" | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? undefined : "unreadable";
  }
  try {
    const { salt, hash } = asObject(JSON.parse(text)) ?? {};
    const read = { salt: bytesOf(salt), hash: bytesOf(hash) };
    return read.salt.length >= SALT_BYTES && read.hash.length === HASH_BYTES ? read : "unreadable";
  } catch {
    return "unreadable";
  }
}
