import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAnswerPassphrase } from "../../../src/server/attach/answer-passphrase.ts";

const PASSPHRASE = "only the person knows it";

let folder: string;
let file: string;
let time: number;
const open = () => openAnswerPassphrase(folder, () => time);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "passphrase-"));
  file = join(folder, "answer-passphrase.json");
  time = 1_000_000;
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true, force: true });
});

describe("without a passphrase", () => {
  it("every page may answer", () => {
    const passphrase = open();
    expect(passphrase.isSet()).toBe(false);
    expect(() => passphrase.requireUnlocked(undefined)).not.toThrow();
  });

  it("nothing can be unlocked", async () => {
    await expect(open().unlock("")).rejects.toMatchObject({ code: "passphrase" });
  });

  it("one of less than 8 characters cannot be set", async () => {
    const passphrase = open();
    await expect(passphrase.change(undefined, "1234567")).rejects.toMatchObject({ status: 400 });
    expect(passphrase.isSet()).toBe(false);
  });
});

describe("with a passphrase", () => {
  it("only an unlocked page may answer, also after a restart", async () => {
    await open().change(undefined, PASSPHRASE);
    const passphrase = open();
    expect(() => passphrase.requireUnlocked(undefined)).toThrow(
      expect.objectContaining({ code: "answer_locked" }),
    );
    expect(() => passphrase.requireUnlocked("guess")).toThrow(
      expect.objectContaining({ code: "answer_locked" }),
    );
    const token = await passphrase.unlock(PASSPHRASE);
    expect(() => passphrase.requireUnlocked(token)).not.toThrow();
    expect(() => open().requireUnlocked(token)).toThrow();
  });

  it("it is the same however the keyboard composes its characters", async () => {
    const passphrase = open();
    await passphrase.change(undefined, "caf\u00e9 au lait");
    await expect(passphrase.unlock("cafe\u0301 au lait")).resolves.toBeTypeOf("string");
  });

  it("the file has neither the passphrase nor a token, and only its owner can read it", async () => {
    const passphrase = open();
    await passphrase.change(undefined, PASSPHRASE);
    const token = await passphrase.unlock(PASSPHRASE);
    const text = readFileSync(file, "utf8");
    expect(text).not.toContain(PASSPHRASE);
    expect(text).not.toContain(token);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("changing it needs the old one, and locks all pages", async () => {
    const passphrase = open();
    await passphrase.change(undefined, PASSPHRASE);
    const token = await passphrase.unlock(PASSPHRASE);
    await expect(passphrase.change("guess", "another one")).rejects.toMatchObject({ code: "passphrase" });
    expect(() => passphrase.requireUnlocked(token)).not.toThrow();
    await passphrase.change(PASSPHRASE, "another one");
    expect(() => passphrase.requireUnlocked(token)).toThrow();
    await expect(passphrase.unlock(PASSPHRASE)).rejects.toMatchObject({ code: "passphrase" });
    await expect(passphrase.unlock("another one")).resolves.toBeTypeOf("string");
  });

  it("removing it needs it", async () => {
    const passphrase = open();
    await passphrase.change(undefined, PASSPHRASE);
    await expect(passphrase.change(undefined, undefined)).rejects.toMatchObject({ code: "passphrase" });
    await passphrase.change(PASSPHRASE, undefined);
    expect([passphrase.isSet(), open().isSet()]).toEqual([false, false]);
  });

  it("after 10 wrong ones, the right one is refused until a minute is over", async () => {
    const passphrase = open();
    await passphrase.change(undefined, PASSPHRASE);
    const guesses = await Promise.allSettled(Array.from({ length: 30 }, () => passphrase.unlock("guess")));
    const codes = guesses.map((one) => (one.status === "rejected" ? one.reason.code : "unlocked"));
    expect(codes.filter((code) => code === "passphrase")).toHaveLength(10);
    expect(codes.filter((code) => code === "too_many")).toHaveLength(20);
    await expect(passphrase.unlock(PASSPHRASE)).rejects.toMatchObject({ status: 429 });
    time += 60_000;
    await expect(passphrase.unlock(PASSPHRASE)).resolves.toBeTypeOf("string");
  });

  it("a file that another program changed has no effect before a restart", async () => {
    const passphrase = open();
    await passphrase.change(undefined, PASSPHRASE);
    rmSync(file);
    expect(() => passphrase.requireUnlocked(undefined)).toThrow();
    await expect(passphrase.unlock(PASSPHRASE)).resolves.toBeTypeOf("string");
  });
});

it.each([
  ["is not JSON", "{"],
  ["has no hash", '{"salt":"AAAAAAAAAAAAAAAAAAAAAA"}'],
  ["has a short hash", '{"salt":"AAAAAAAAAAAAAAAAAAAAAA","hash":"AAAA"}'],
])("a file that %s keeps answers locked, and the error names it", async (_, text) => {
  writeFileSync(file, text);
  const passphrase = open();
  expect(passphrase.isSet()).toBe(true);
  expect(() => passphrase.requireUnlocked(undefined)).toThrow();
  await expect(passphrase.unlock(PASSPHRASE)).rejects.toThrow(file);
});

it("a passphrase that cannot be stored is not set, and the error says why", async () => {
  const passphrase = openAnswerPassphrase(join(folder, "missing"));
  await expect(passphrase.change(undefined, PASSPHRASE)).rejects.toThrow(/was not changed: ENOENT/);
  expect(passphrase.isSet()).toBe(false);
});
