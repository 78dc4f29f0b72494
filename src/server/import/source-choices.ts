import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asObject, messageOf } from "../../model/narrow.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { type Notice, noticeOf } from "../../store/contract.ts";

/** The user's choice of agents whose session files are read. Stored in the data folder. */
export interface SourceChoices {
  /** Ids of the agents that are switched off. */
  readonly off: ReadonlySet<string>;
  readonly notices: readonly Notice[];
  /** Stores the choice, then applies it. Throws if it cannot be stored; then nothing changes. */
  set(agent: string, is_on: boolean): void;
  /** Calls the listener with the agent whose switch changed. The result unsubscribes. */
  subscribe(listener: (agent: string) => void): () => void;
}

const fileOf = (data_dir: string): string => join(data_dir, "sources.json");

/** Reads the choices from a data folder. Without a valid file no agent is switched off. A damaged file gives a notice. */
export function openSourceChoices(data_dir: string): SourceChoices {
  const file = fileOf(data_dir);
  const { off, notices } = readChoices(file);
  const listeners = new Set<(agent: string) => void>();
  /** Whether the file is damaged. If so, it is renamed when a new one is written. */
  let is_damaged = notices.length > 0;
  return {
    off,
    notices,
    set(agent, is_on) {
      if (off.has(agent) !== is_on) return;
      const next = is_on ? [...off].filter((id) => id !== agent) : [...off, agent];
      if (is_damaged) renameSync(file, `${file}.damaged`);
      is_damaged = false;
      writeChoices(file, next);
      if (is_on) off.delete(agent);
      else off.add(agent);
      for (const listener of [...listeners]) listener(agent);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function readChoices(file: string): { off: Set<string>; notices: Notice[] } {
  try {
    const off = asObject(JSON.parse(readFileSync(file, "utf8")))?.off;
    if (Array.isArray(off) && off.every((agent) => typeof agent === "string"))
      return { off: new Set(off), notices: [] };
    return unreadable(daemonText("choices_format", { file }));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      return { off: new Set(), notices: [] };
    return unreadable(daemonText("choices_unreadable", { file, error: messageOf(error) }));
  }
}

function unreadable(text: CodedText): { off: Set<string>; notices: Notice[] } {
  return { off: new Set(), notices: [noticeOf("warning", text, daemonText("fix_or_remove"))] };
}

/** Writes atomically: to a temporary file that is then renamed. */
function writeChoices(file: string, off: readonly string[]): void {
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, `${JSON.stringify({ off })}\n`, { mode: 0o600, flush: true });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
