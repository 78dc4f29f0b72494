import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { structuredPatch } from "diff";
import { UsageError } from "../../usage-error.ts";
import type { AgentAttachment } from "../agent-attachment.ts";
import { hookSocketPath, hookSocketProblem } from "../hook-socket.ts";
import { addHook, hasHook, removeHook } from "./hook-settings.ts";

/** The hook's program, next to this file in the sources and next to the bundle in the package. */
const PROGRAM = join(import.meta.dirname, "permission-hook.mjs");

/**
 * Attaches to Claude Code with a hook in the user's settings, which open sessions load within seconds. Detaching restores the
 * original settings file exactly, unless it was changed since.
 */
export function claudeCodeAttachment(options: { data_dir: string; config_dir: string }): AgentAttachment {
  const { data_dir, config_dir } = options;
  const file = join(config_dir, "settings.json");
  const folder = join(data_dir, "attach");
  const script = join(folder, "claude-code-hook.mjs");
  const backup = join(folder, "claude-code-settings.json");
  const command = commandOf(script, hookSocketPath(data_dir));

  const read = (): string | undefined => readText(file);
  const isInstalled = (): boolean => hasHook(read() ?? "", script);

  function removed(text: string): string | undefined {
    const kept = readBackup(backup);
    // Restore the original if nothing else was written since.
    return kept?.after === text ? kept.before : removeHook(text, script);
  }

  return {
    describe() {
      const problem = hookSocketProblem(data_dir);
      const text = read() ?? "";
      const is_installed = isInstalled();
      const base = { agent: "claude-code", name: "Claude Code", by: "hook", file, is_installed } as const;
      try {
        const after = is_installed ? (removed(text) ?? "") : addHook(text, command);
        return { ...base, diff: diffOf(file, text, after), ...(problem !== undefined && { problem }) };
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        return { ...base, diff: "", problem: error.message };
      }
    },
    install() {
      const problem = hookSocketProblem(data_dir);
      if (problem !== undefined) throw new UsageError(problem);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      copyFileSync(PROGRAM, script);
      if (isInstalled()) return;
      const before = read();
      const after = addHook(before ?? "", command);
      writeFileSync(backup, JSON.stringify({ ...(before !== undefined && { before }), after }), {
        mode: 0o600,
      });
      writeSettings(file, after);
    },
    remove() {
      const text = read();
      if (text !== undefined && hasHook(text, script)) {
        const rest = removed(text);
        if (rest === undefined) rmSync(file);
        else writeSettings(file, rest);
      }
      rmSync(backup, { force: true });
      rmSync(script, { force: true });
    },
  };
}

/** Does nothing if the daemon's socket or the Node executable is missing. */
function commandOf(script: string, socket: string): string {
  const node = quoted(process.execPath);
  return `[ -S ${quoted(socket)} ] && [ -x ${node} ] && ${node} ${quoted(script)} ${quoted(socket)} || true`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** The settings before and after the hook was added. `before` is absent if there was no file. */
function readBackup(path: string): { before?: string; after: string } | undefined {
  const text = readText(path);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Writes atomically, because Claude Code reads the file whenever it changes. Keeps a symbolic link, as dotfile managers use. */
function writeSettings(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const is_new = readText(file) === undefined;
  const target = is_new ? file : realpathSync(file);
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  writeFileSync(temporary, text, { mode: is_new ? 0o600 : statSync(target).mode });
  renameSync(temporary, target);
}

/** A unified diff of the settings file. */
function diffOf(file: string, before: string, after: string): string {
  const { hunks } = structuredPatch(file, file, before, after, "", "", { context: 3 });
  return hunks.flatMap(({ lines }) => lines.filter((line) => !line.startsWith("\\"))).join("\n");
}
