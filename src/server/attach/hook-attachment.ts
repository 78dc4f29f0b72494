import { mkdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { structuredPatch } from "diff";
import { messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { textFields } from "../../model/text/display-text.ts";
import type { Attachment } from "../../protocol.ts";
import { UsageError } from "../usage-error.ts";
import type { AgentAttachment } from "./agent-attachment.ts";
import { readAttachmentFile } from "./attachment-file.ts";
import { addHooks, hasHook, removeHooks, type SettingsHooks } from "./hook-settings.ts";
import { hookSocketPath, hookSocketProblem } from "./hook-socket.ts";
import { writeAtomic } from "./write-atomic.ts";

/** The hooks' program, next to this file in the sources and next to the bundle in the package. */
const PROGRAM = join(import.meta.dirname, "agent-hook.mjs");

/** Builds the shell command of a hook. */
export interface HookCommands {
  /** Forwards the body and waits for an answer. The body must name its event. */
  own: string;
  /** Forwards the body with the event and waits for an answer. */
  answering(event: string): string;
  /** Forwards the body with the event. The agent does not wait for it. */
  reporting(event: string): string;
  /** Like `reporting`, but only while a session of the agent waits for its user. Costs almost nothing at other times. */
  reportingWhileWaiting(event: string): string;
}

/** An agent that is attached with hooks in its JSON settings. */
export interface HookedAgent {
  agent: string;
  name: string;
  answers: Attachment["answers"];
  /** Open sessions use new hooks without being restarted. */
  in_open_sessions: boolean;
  hooks(commands: HookCommands): SettingsHooks;
}

/** The file that exists while a session of an attached agent waits for its user. */
export const waitingFlag = (data_dir: string, agent: string): string =>
  join(data_dir, "attach", `${agent}.waiting`);

/** Attaches to an agent with hooks in `settings.json`. Detaching restores the original file exactly, unless it was changed since. */
export function hookAttachment(
  { agent, name, answers, in_open_sessions, hooks }: HookedAgent,
  { data_dir, config_dir }: { data_dir: string; config_dir: string },
): AgentAttachment {
  const file = join(config_dir, "settings.json");
  const folder = join(data_dir, "attach");
  const script = join(folder, `${agent}-hook.mjs`);
  /** The program as it is written in our commands. */
  const mark = quoted(script);
  const backup = join(folder, `${agent}-settings.json`);
  const added = hooks(commandsOf(agent, script, data_dir));

  const read = (): string | undefined => readAttachmentFile(file);
  const isInstalled = (): boolean => hasHook(read() ?? "", mark);

  function removed(text: string): string | undefined {
    const kept = readBackup(backup);
    // Restore the original if nothing else was written since.
    return kept?.after === text ? kept.before : removeHooks(text, mark);
  }

  return {
    isInstalled,
    describe() {
      const problem = hookSocketProblem(data_dir);
      let base = { agent, name, by: "hook" as const, answers, in_open_sessions, file, is_installed: false };
      try {
        const text = read() ?? "";
        const is_installed = hasHook(text, mark);
        base = { ...base, is_installed };
        const after = is_installed ? (removed(text) ?? "") : addHooks(text, added);
        return {
          ...base,
          diff: diffOf(file, text, after),
          ...(problem !== undefined && textFields("problem", problem)),
        };
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        return { ...base, diff: "", ...textFields("problem", error.title) };
      }
    },
    install() {
      const problem = hookSocketProblem(data_dir);
      if (problem !== undefined) throw new UsageError(problem);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeAtomic(script, readFileSync(PROGRAM, "utf8"), 0o600);
      if (isInstalled()) return;
      const before = read();
      const after = addHooks(before ?? "", added);
      try {
        writeAtomic(backup, JSON.stringify({ ...(before !== undefined && { before }), after }), 0o600);
        writeSettings(file, after);
      } catch (error) {
        rmSync(backup, { force: true });
        throw new UsageError(daemonText("file_not_changed", { path: file, error: messageOf(error) }));
      }
    },
    remove() {
      const text = read();
      if (text !== undefined && hasHook(text, mark)) {
        const rest = removed(text);
        if (rest === undefined) rmSync(file);
        else writeSettings(file, rest);
      }
      rmSync(backup, { force: true });
      rmSync(script, { force: true });
    },
  };
}

/** The hook commands of an agent. They do nothing if the daemon's socket, the Node executable or the program is missing. */
function commandsOf(agent: string, script: string, data_dir: string): HookCommands {
  const socket = quoted(hookSocketPath(data_dir));
  const node = quoted(process.execPath);
  const isInstalled = `[ -S ${socket} ] && [ -x ${node} ] && [ -f ${quoted(script)} ]`;
  const run = `${node} ${quoted(script)} ${socket}`;
  // The shell's parent is the agent.
  const runWith = (event: string) => `${run} ${agent} ${event} "$PPID"`;
  // A background command has no standard input.
  const inBackground = (command: string) => `{ ${command} <&3 >/dev/null 2>&1 & } 3<&0`;
  return {
    // Agents show the standard error of a hook.
    own: `${isInstalled} && ${run} 2>/dev/null || true`,
    answering: (event) => `${isInstalled} && ${runWith(event)} 2>/dev/null || true`,
    reporting: (event) => `${isInstalled} && ${inBackground(runWith(event))} || true`,
    reportingWhileWaiting: (event) =>
      `[ -f ${quoted(waitingFlag(data_dir, agent))} ] && ${isInstalled} && ${inBackground(runWith(event))} || true`,
  };
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The settings before and after the hook was added. `before` is absent if there was no file. */
function readBackup(path: string): { before?: string; after: string } | undefined {
  const text = readAttachmentFile(path);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Writes atomically, because Claude Code reads the file whenever it changes. Keeps a symbolic link, as dotfile managers use. */
function writeSettings(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const is_new = readAttachmentFile(file) === undefined;
  const target = is_new ? file : realpathSync(file);
  writeAtomic(target, text, is_new ? 0o600 : statSync(target).mode);
}

/** A unified diff of the settings file. */
function diffOf(file: string, before: string, after: string): string {
  const { hunks } = structuredPatch(file, file, before, after, "", "", { context: 3 });
  return hunks.flatMap(({ lines }) => lines.filter((line) => !line.startsWith("\\"))).join("\n");
}
