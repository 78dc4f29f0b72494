import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeEvent } from "../../src/model/messages/history.ts";
import { MIGRATIONS, openSqliteArchive } from "../../src/store/archive/sqlite.ts";
import { bareEnvironment } from "../environment.ts";
import { LONG, times } from "../long.ts";
import { seeded } from "../seeded.ts";

/** The library that fails writes, built from failing-disk.c with the system's compiler. */
const library = join(mkdtempSync(join(tmpdir(), "failing-disk-")), "disk.so");
const built =
  process.platform === "linux" &&
  spawnSync("cc", [
    "-shared",
    "-fPIC",
    "-O1",
    "-o",
    library,
    join(import.meta.dirname, "failing-disk.c"),
    "-ldl",
  ]).status === 0;

let base: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "disk-")));
});
afterAll(() => {
  rmSync(base, { recursive: true, maxRetries: 5 });
  rmSync(join(library, ".."), { recursive: true });
});

interface Ended {
  lines: string[];
  errors: string;
  killed: boolean;
  writes: number;
}

/** Runs disk-worker.ts on a folder whose writes can be made to fail. */
function work(folder: string, ...args: string[]): Promise<Ended> {
  mkdirSync(folder, { recursive: true });
  const orders = join(folder, "orders");
  writeFileSync(orders, Buffer.alloc(20));
  const child: ChildProcess = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "disk-worker.ts"), folder, ...args],
    {
      env: { ...bareEnvironment, LD_PRELOAD: library, DISK_FOLDER: folder, DISK_ORDERS: orders },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let out = "";
  let errors = "";
  child.stdout?.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  return new Promise((resolve) => {
    child.once("close", (_code, signal) =>
      resolve({
        lines: out.split("\n").slice(0, -1),
        errors,
        killed: signal === "SIGKILL",
        writes: readFileSync(orders).readInt32LE(12),
      }),
    );
  });
}

function rows(file: string, query: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare(query).all();
  } finally {
    database.close();
  }
}
const expectWhole = (file: string) =>
  expect(
    rows(file, "PRAGMA integrity_check").map((row) => ({ ...row })),
    file,
  ).toEqual([{ integrity_check: "ok" }]);

/** Positions that are dense at the start, where a store is opened, and sparse afterwards. */
const spread = (count: number, last: number) =>
  Array.from({ length: count }, (_, n) => Math.round(1 + (last - 1) * (n / (count - 1)) ** 2));

const FAILING = times(3, 1_000);
const KILLS = times(6, 500);
const MIGRATION_KILLS = times(2, 50);
/** Number of writes on each side of a migration's commit at which the process is killed. */
const AROUND = times(1, 3);

describe.skipIf(!built)(
  "a failing disk (skipped without a C compiler for the failing layer)",
  {
    timeout: LONG ? 5_400_000 : 180_000,
  },
  () => {
    it(`at each of ${FAILING} of the first 1,000 writes keeps everything readable, is reported, confirms nothing that is not stored, and recovers`, async () => {
      const positions = LONG ? Array.from({ length: FAILING }, (_, n) => n + 1) : spread(FAILING, 1_000);
      const lanes = ["eio", "enospc", ...(LONG ? (["eio", "enospc"] as const) : [])] as const;
      const results = await Promise.all(
        lanes.map(async (what, lane) => {
          const own = positions.filter((_, at) => at % lanes.length === lane);
          const { lines, errors } = await work(
            join(base, `${what} ${lane}`),
            "fail",
            what,
            ...own.map(String),
          );
          expect(errors, what).toBe("");
          expect(lines.length, what).toBe(own.length);
          return lines.map((line): { struck: boolean; told: boolean; opened: object; n: number } =>
            JSON.parse(line),
          );
        }),
      );
      const all = results.flat();
      expect(all.every(({ struck }) => struck)).toBe(true);
      // A failed checkpoint is not reported; all other failures are.
      expect(all.filter(({ told }) => told).length).toBeGreaterThan(all.length * 0.8);
      console.info(`${all.length} failing writes, ${all.filter(({ told }) => told).length} told`);
    });

    it(`loses nothing that was confirmed when killed at ${KILLS} writes`, async () => {
      const random = seeded(3);
      const folder = join(base, "kills");
      const [managed, pushed] = [randomUUID(), randomUUID()];
      const prompts = new Set<string>();
      const marks = new Set<string>();
      let archived = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        // Every third kill occurs while the stores are opened, and first while they are created.
        const at = kill < 3 ? 4 + kill * 9 : 1 + Math.floor(random() * (kill % 3 === 0 ? 60 : 900));
        const ended = await work(folder, "kill", String(at), managed, `Life ${kill}`, pushed);
        expect(ended.errors).toBe("");
        expect(ended.killed).toBe(true);
        for (const line of ended.lines) {
          const [what, rest = ""] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
          if (what === "archived") archived = Number(rest);
          if (what === "prompt") prompts.add(rest);
          if (what === "pushed") marks.add(rest);
          if (what === "opened") expect(Number(rest), "archived before").toBeGreaterThanOrEqual(archived);
        }
        const data = join(folder, "data");
        const names = readdirSync(data);
        expect(names.filter((name) => name.includes("broken"))).toEqual([]);
        if (!names.includes("verbatim.db") || !names.includes("history.db")) continue;
        expectWhole(join(data, "verbatim.db"));
        expectWhole(join(data, "history.db"));
        let end = 0;
        for (const { start, length } of rows(
          join(data, "verbatim.db"),
          "SELECT start, length FROM chunk ORDER BY start",
        )) {
          expect(start).toBe(end);
          end += Number(length);
        }
        expect(end).toBeGreaterThanOrEqual(archived);
        const positions = new Map<string, number>();
        const told: string[] = [];
        for (const { session_id, position, event } of rows(
          join(data, "history.db"),
          "SELECT * FROM history ORDER BY session_id, position",
        )) {
          expect(position).toBe(positions.get(String(session_id)) ?? 0);
          positions.set(String(session_id), Number(position) + 1);
          const decoded = decodeEvent(String(event));
          expect("type" in decoded && decoded.type === "unknown").toBe(false);
          told.push(String(event));
        }
        for (const { frame } of rows(join(data, "history.db"), "SELECT frame FROM pending"))
          told.push(String(frame));
        for (const { state } of rows(join(data, "history.db"), "SELECT state FROM session"))
          told.push(String(state));
        // Each exists exactly once: in the history, in the pending commits, or in the queue.
        const all = told.join("\n");
        for (const words of prompts) expect(all.split(`"${words}"`).length - 1, words).toBe(1);
        for (const words of marks) expect(all.split(`"${words}"`).length - 1, words).toBe(1);
      }
      expect(prompts.size + marks.size).toBeGreaterThan(0);
      console.info(
        `${KILLS} kills, ${prompts.size} prompts, ${marks.size} pushed, ${archived} bytes acknowledged`,
      );
    });

    it("is synced by every confirmed commit", async () => {
      const { lines, errors } = await work(join(base, "syncs"), "sync", "50");
      expect(errors).toBe("");
      expect(JSON.parse(lines.at(-1) ?? "").least).toBeGreaterThan(0);
    });

    it(`killed at ${MIGRATION_KILLS} writes of a migration is old or new, intact, and keeps the backup`, async () => {
      const prepare = async (name: string) => {
        const folder = join(base, name);
        const data = join(folder, "data");
        mkdirSync(data, { recursive: true });
        const { store } = openSqliteArchive({ folder: data, now: Date.now });
        const compressed = Buffer.alloc(3_000, 7);
        await store?.write({
          chunks: Array.from({ length: 60 }, (_, n) => ({ file_id: 1, start: n, length: 1, compressed })),
          files: [
            {
              ...{
                id: 1,
                path: "/one",
                format: "frames",
                kind: "session",
                gone: false,
                inode: "1:1",
                size: 60,
              },
              ...{ modified_at: 1, head: "a", head_length: 1, tail: "b" },
            },
          ],
        });
        await store?.close();
        return { folder, data };
      };
      const { folder: whole } = await prepare("migration");
      const undisturbed = await work(whole, "migrate", "1000000");
      expect(undisturbed.errors).toBe("");
      expect(undisturbed.lines.at(-1)).toBe("done");
      const states = { old: 0, new: 0 };
      const killAt = async (at: number, goesOn = true): Promise<"old" | "new"> => {
        const { folder, data } = await prepare(`migration ${at}`);
        const ended = await work(folder, "migrate", String(at));
        expect(ended.errors).toBe("");
        expect(ended.killed, `at ${at} of ${undisturbed.writes}`).toBe(true);
        const file = join(data, "verbatim.db");
        expectWhole(file);
        const version = Number(rows(file, "PRAGMA user_version")[0]?.user_version);
        const columns = rows(file, "PRAGMA table_info(chunk)").length;
        expect(rows(file, "SELECT count(*) AS n FROM chunk").map((row) => ({ ...row }))).toEqual([{ n: 60 }]);
        const state = version === MIGRATIONS.length ? "old" : "new";
        states[state] += 1;
        if (state === "old") expect(columns, `at ${at}`).toBe(4);
        else {
          expect(version).toBe(MIGRATIONS.length + 1);
          expect(rows(file, "SELECT DISTINCT note FROM chunk").map((row) => ({ ...row }))).toEqual([
            { note: "new" },
          ]);
          expectWhole(`${file}.version-${MIGRATIONS.length}`);
        }
        if (goesOn) {
          // The next start completes the migration.
          const again = await work(folder, "migrate", "1000000");
          expect(again.errors).toBe("");
          expect(JSON.parse(again.lines[0] ?? "")).toEqual({ opened: true, notices: [] });
          expect(rows(file, "PRAGMA user_version")[0]?.user_version).toBe(MIGRATIONS.length + 1);
          const copies = readdirSync(data).filter((name) => name.includes(".version-"));
          expect(copies.length).toBeGreaterThan(0);
        }
        rmSync(folder, { recursive: true });
        return state;
      };
      const last = undisturbed.writes;
      for (let kill = 0; kill < MIGRATION_KILLS; kill += 1)
        await killAt(1 + Math.round(((last - 1) * kill) / (MIGRATION_KILLS - 1)));
      // Old up to there, new from there on.
      let [old, done] = [1, last];
      while (done - old > 1) {
        const middle = Math.floor((old + done) / 2);
        if ((await killAt(middle, LONG)) === "old") old = middle;
        else done = middle;
      }
      for (let at = old - AROUND; at < old; at += 1) expect(await killAt(at)).toBe("old");
      for (let at = done + 1; at <= done + AROUND; at += 1) expect(await killAt(at)).toBe("new");
      expect(states.old).toBeGreaterThan(0);
      expect(states.new).toBeGreaterThan(0);
      console.info("killed migrations", states);
    });
  },
);
