import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Format } from "../../sources/contract.ts";
import { headerIn, isRecordLog } from "../../sources/record-log/log-line.ts";
import { createLogWriter } from "../import/record-logs/log-writer.ts";
import { recognizeStore } from "../import/record-logs/recognize-store.ts";

/** The sessions of a store that changes in place, each as a record log. */
export interface StoredSessions {
  format: Format;
  sessions: { name: string; log: string }[];
  /** Removes the logs. */
  dispose(): void;
}

/** `undefined`: there is no known store at this path. `head`: the file's first bytes; absent for a folder. */
export async function readStoredSessions(
  file: string,
  head: Uint8Array | undefined,
  formats: readonly Format[],
): Promise<StoredSessions | undefined> {
  const path = resolve(file);
  const format = recognizeStore(path, head, formats);
  if (format?.snapshots === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "verbatim-show-"));
  const dispose = () => rmSync(folder, { recursive: true, force: true });
  try {
    createLogWriter().update({ agent: format.id, snapshots: format.snapshots, store: path, folder });
    const logs = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter(isRecordLog)
      .map((name) => join(folder, name));
    const sessions = await Promise.all(logs.map(async (log) => ({ name: await nameOf(log), log })));
    return { format, sessions: sessions.sort((one, other) => (one.name < other.name ? -1 : 1)), dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

async function nameOf(log: string): Promise<string> {
  const handle = await open(log);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(64 * 1024), position: 0 });
    return headerIn(buffer.subarray(0, bytesRead))?.session ?? log;
  } finally {
    await handle.close();
  }
}
