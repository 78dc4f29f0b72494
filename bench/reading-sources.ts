import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createLogWriter } from "../src/server/import/record-logs/log-writer.ts";
import type { Format } from "../src/sources/contract.ts";
import { formats } from "../src/sources/index.ts";
import { isRecordLog } from "../src/sources/record-log/log-line.ts";

/** The input of one source's reader: its session files, or the record logs of its databases and documents. */
export interface SourceFiles {
  format: Format;
  files: { path: string; bytes: Buffer }[];
}

/** Larger files are excluded, because they would outweigh all others. */
const LARGEST = 64 * 1024 * 1024;
const HEAD = 64 * 1024;

/** The session files below folders, by source, recognized by their content; databases and documents become record logs first. */
export function sourceFiles(folders: readonly string[]): SourceFiles[] {
  const found = new Map<Format, SourceFiles["files"]>();
  const add = (format: Format, path: string): void => {
    const bytes = readFileSync(path);
    if (bytes.length === 0) return;
    const files = found.get(format) ?? [];
    files.push({ path, bytes });
    found.set(format, files);
  };
  const logs = mkdtempSync(join(tmpdir(), "bench-logs-"));
  const stores = new Set<string>();
  for (const folder of folders) {
    for (const path of filesBelow(folder)) {
      const isLines = path.endsWith(".jsonl");
      const lines = formats.find(
        (format) => (isLines || format.snapshots === undefined) && format.detect(headOf(path)),
      );
      if (lines !== undefined) {
        add(lines, path);
        continue;
      }
      for (const format of formats) {
        const store = format.snapshots?.storeOf(relative(folder, path).replaceAll("\\", "/"));
        if (store !== undefined) stores.add(`${format.id}\n${join(folder, store)}`);
      }
    }
  }
  for (const [index, entry] of [...stores].entries()) {
    const [id, store = ""] = entry.split("\n");
    const format = formats.find((each) => each.id === id);
    if (format?.snapshots === undefined) continue;
    const folder = join(logs, String(index));
    try {
      createLogWriter().update({ agent: format.id, snapshots: format.snapshots, store, folder });
    } catch {
      // Another agent's store whose path matches this one.
      continue;
    }
    for (const path of filesBelow(folder)) if (isRecordLog(path)) add(format, path);
  }
  rmSync(logs, { recursive: true, force: true });
  return [...found].map(([format, files]) => ({ format, files }));
}

function filesBelow(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    // Nothing was written for this store.
    return [];
  }
  return names
    .map((name) => join(folder, name))
    .filter((path) => {
      const { size, isFile } = statOf(path);
      return isFile && size > 0 && size <= LARGEST;
    })
    .sort();
}

function statOf(path: string): { size: number; isFile: boolean } {
  const stat = statSync(path);
  return { size: stat.size, isFile: stat.isFile() };
}

const headOf = (path: string): Buffer => readFileSync(path).subarray(0, HEAD);
