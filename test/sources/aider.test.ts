import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { aider } from "../../src/sources/aider/format.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

const root = mkdtempSync(join(tmpdir(), "verbatim-aider-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let tests = 0;
let folder: string;
let file: string;
beforeEach(() => {
  tests += 1;
  folder = join(root, String(tests));
  mkdirSync(folder);
  file = join(folder, ".aider.chat.history.md");
});

/** Lines as Aider writes them: its own end with two spaces. */
const own = (...lines: string[]): string => lines.map((line) => `${line}  \n`).join("");
const started = (time: string): string => `\n# aider chat started at ${time}\n\n`;
const banner = own(
  "> /usr/bin/aider --model sonnet",
  "> Aider v0.86.1",
  "> Main model: sonnet with diff edit format",
);
const prompt = (...lines: string[]): string => `\n${own(...lines.map((line) => `#### ${line}`))}`;
const answer = (text: string): string => `\n${text.trim()}\n\n`;
const usage = own("> Tokens: 3.1k sent, 245 received. Cost: $0.01 message, $0.02 session.");

const read = (...pieces: string[]): Map<string, FollowedSession> => {
  writeFileSync(file, pieces.join(""));
  return look(aider, openStore(file));
};
function only(sessions: Map<string, FollowedSession>): FollowedSession {
  const [session] = sessions.values();
  if (session === undefined || sessions.size > 1) throw new Error(`${sessions.size} sessions`);
  return session;
}
const texts = (session: FollowedSession): string[] =>
  closed(session).parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
const turnsOf = (session: FollowedSession) => [...closed(session).transcript.turns];
const lastTime = (session: FollowedSession) => session.records.flatMap(({ frames }) => frames).at(-1)?.at;
const factsOf = (session: FollowedSession) =>
  session.records.flatMap(({ frames }) =>
    frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
  );

it("finds chat histories by their names, and recognizes them by their first heading", () => {
  const { snapshots } = aider;
  expect(snapshots?.storeOf("code/tide/.aider.chat.history.md")).toBe("code/tide/.aider.chat.history.md");
  expect(snapshots?.storeOf("code/tide/history.md")).toBeUndefined();
  writeFileSync(file, "# Notes\n\n# aider chat started at 2026-05-04 09:00:00\n");
  expect(snapshots?.recognizes(openStore(file))).toBe(false);
  writeFileSync(file, started("2026-05-04 09:00:00"));
  expect(snapshots?.recognizes(openStore(file))).toBe(true);
});

it("reads each start with a prompt as a session, in the folder of the file", () => {
  const sessions = read(
    started("2026-05-04 09:00:00") + banner,
    started("2026-05-04 09:01:00") + banner + prompt("Fix the tide table") + answer("Fixed.") + usage,
    started("2026-05-04 09:01:00") + prompt("And Oslo?") + answer("Oslo too."),
  );
  const [first, second] = sessions.values();
  expect(sessions.size).toBe(2);
  if (first === undefined || second === undefined) throw new Error("no sessions");
  expect(Object.assign({}, ...factsOf(first))).toMatchObject({
    cwd: folder,
    model: "sonnet",
    agent_version: "0.86.1",
    agent_cost: { usd: 0.02 },
  });
  expect(orderOf(closed(first).parts)).toBe("[note] U x");
  expect(turnsOf(first)).toMatchObject([
    { status: "completed", usage: { input: 3_100, output: 245, cost: 0.01 } },
  ]);
  const [turn] = turnsOf(first);
  expect(turn?.started_at).toBe(Date.parse("2026-05-04T09:01:00"));
  // Only the last session can have changed the file.
  expect(lastTime(first)).toBe(turn?.started_at);
  expect(lastTime(second)).toBeGreaterThan(turn?.started_at ?? 0);
  expect(texts(second)).toEqual(["Oslo too."]);
});

it("tells headings and quotes of an answer from Aider's own lines", () => {
  const text = "#### Plan\n\n> a quote\n> of two lines\n\n1. Read it\n\n```\n> shell\n```";
  const session = only(
    read(
      started("2026-05-04 09:00:00"),
      prompt("Fix", "", "it"),
      answer(text),
      usage,
      own("> Applied edit to a.py"),
    ),
  );
  expect(orderOf(closed(session).parts)).toBe("U x [note]");
  expect(texts(session)).toEqual([text]);
  expect(closed(session).parts[0]).toMatchObject({ parts: [{ text: "Fix\n\nit" }] });
});

it("reads a history whose line breaks were removed", () => {
  const session = only(
    read(
      (started("2026-05-04 09:00:00") + banner + prompt("Fix") + answer("Fixed.") + usage).replaceAll(
        / +$/gm,
        "",
      ),
    ),
  );
  expect(orderOf(closed(session).parts)).toBe("[note] U x");
  expect(turnsOf(session)).toMatchObject([{ usage: { input: 3_100 } }]);
});

it("reads a message of several lines, and tokens by cache with the cost in the next line", () => {
  const session = only(
    read(
      started("2026-05-04 09:00:00"),
      "> aider --message You are an analyst.\n\n  Read facts.json.  \n",
      prompt("Go"),
      answer("Done."),
      "> Tokens: 5.1k sent, 2.0k cache write, 1.2k cache hit, 1M received.\nCost: $0.0015 message, $1.20 session.  \n",
    ),
  );
  expect(orderOf(closed(session).parts)).toBe("[note] U x");
  const [turn] = turnsOf(session);
  expect(turn?.usage).toEqual({
    input: 1_900,
    output: 1_000_000,
    cache_read: 1_200,
    cache_write: 2_000,
    cost: 0.0015,
  });
});

it("counts the tokens of a request that returned no text", () => {
  const session = only(read(started("2026-05-04 09:00:00") + banner, prompt("Go") + usage));
  expect(turnsOf(session)).toMatchObject([{ usage: { input: 3_100, output: 245, cost: 0.01 } }]);
});

it("shows commands, answers to a command, several answers to a prompt, and errors", () => {
  const session = only(
    read(
      started("2026-05-04 09:00:00") + banner,
      prompt("<blank>"),
      prompt("/add a.py") + own("> Added a.py to the chat"),
      prompt("/run pytest") + own("> Add command output to the chat? (Y)es/(N)o [Yes]: y"),
      answer("It fails."),
      prompt("Fix it") + answer("First.") + usage + own("> Applied edit to a.py", "> Commit 1a2b3c fix: it"),
      answer("Second.") + usage,
      prompt("Go on") + own("> litellm.RateLimitError: slow down", "> Retrying in 0.2 seconds..."),
      prompt("Unanswered") + own("> ", "> ", "> ^C again to exit"),
    ),
  );
  expect(orderOf(closed(session).parts)).toBe(
    "[note] U U [note] U [note] x U x [note] | x U [error] [note] U [interrupt]",
  );
  expect(turnsOf(session).map((turn) => turn?.status)).toEqual([
    "completed",
    "completed",
    "completed",
    "completed",
    "failed",
    "interrupted",
  ]);
});

it("grows with the file, and keeps earlier sessions", () => {
  writeFileSync(file, started("2026-05-04 09:00:00") + banner + prompt("Fix it"));
  const known = look(aider, openStore(file));
  appendFileSync(file, answer("Fixed.") + usage + own("> Applied edit to a.py"));
  utimesSync(file, 2, 2);
  look(aider, openStore(file), known);
  appendFileSync(file, own("> Commit 1a2b3c fix: it") + started("2026-05-04 10:00:00") + prompt("Hi"));
  utimesSync(file, 3, 3);
  look(aider, openStore(file), known);
  const [first, second] = known.values();
  if (first === undefined || second === undefined) throw new Error("no sessions");
  const { parts } = closed(first);
  expect(orderOf(parts)).toBe("[note] U x [note]");
  expect(parts.findLast(({ type }) => type === "marker")).toMatchObject({
    text: "Applied edit to a.py\nCommit 1a2b3c fix: it",
  });
  expect(turnsOf(second)).toHaveLength(1);
});
