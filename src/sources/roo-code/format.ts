import { asNumber, asObject, asString } from "../../model/narrow.ts";
import type { Format } from "../contract.ts";
import { textOfHead } from "../conversation/head.ts";
import { EDITOR_FOLDERS } from "../editor-folders.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { taskReader } from "./reader.ts";
import { hasTask, storeOf, taskSessions } from "./stores.ts";

interface Extension {
  id: string;
  name: string;
  variable: string;
  extension: string;
  /** Other folders with tasks. */
  others?: string[];
}

/**
 * Creates the format of an extension that stores each task in a folder of rewritten documents. The format originated in Cline.
 */
function taskFormat({ id, name, variable, extension, others = [] }: Extension): Format {
  return recordLinesFormat({
    id,
    name,
    root: {
      variable,
      home: ".",
      folders: [...EDITOR_FOLDERS.map((folder) => `${folder}/globalStorage/${extension}/tasks`), ...others],
    },
    classify: () => undefined,
    detect: (head) => id === ROO && isTask(head),
    snapshots: {
      storeOf,
      recognizes: (store) => hasTask(store) && extensionIn(store.path) === extension,
      sessions: (store) => taskSessions(store),
      // Each task has a copy of the repository.
      skips: ["checkpoints"],
    },
    reader: taskReader(id),
  });
}

const ROO = "roo-code";
const ROO_EXTENSION = "rooveterinaryinc.roo-cline";
const CLINE_EXTENSION = "saoudrizwan.claude-dev";
const KILO_EXTENSION = "kilocode.kilo-code";

/** A copied folder names no extension. It is treated as Roo Code's, which uses Cline's format. */
const extensionIn = (path: string): string =>
  path.includes(CLINE_EXTENSION)
    ? CLINE_EXTENSION
    : path.includes("kilocode")
      ? KILO_EXTENSION
      : ROO_EXTENSION;

/** Whether a head is the start of `ui_messages.json`. */
function isTask(head: Uint8Array): boolean {
  const [, first] = /^\[\s*(\{[^{}]*\})/.exec(textOfHead(head)) ?? [];
  if (first === undefined) return false;
  try {
    const message = asObject(JSON.parse(first));
    return asNumber(message?.ts) !== undefined && /^(?:ask|say)$/.test(asString(message?.type) ?? "");
  } catch {
    return false;
  }
}

/** Roo Code, an extension of VS Code. */
export const rooCode = taskFormat({
  id: ROO,
  name: "Roo Code",
  // Verbatim's own variable: Roo Code has none.
  variable: "ROO_CODE_HOME",
  extension: ROO_EXTENSION,
});

/** Cline as an extension of VS Code, before its tasks became the sessions of `cline`. */
export const clineTasks = taskFormat({
  id: "cline-vscode",
  name: "Cline (VS Code)",
  // Verbatim's own variable: the extension has none.
  variable: "CLINE_VSCODE_HOME",
  extension: CLINE_EXTENSION,
  others: [".cline/data/tasks"],
});

/**
 * Kilo Code as an extension of VS Code before version 7, a fork of Roo Code, and the command line version of that time. Most
 * versions write no `history_item.json`. Source: `packages/types/src/message.ts` and `src/core/task/Task.ts` of
 * Kilo-Org/kilocode.
 */
export const kiloCode = taskFormat({
  id: "kilo-code",
  name: "Kilo Code",
  // Verbatim's own variable: the extension has none.
  variable: "KILO_CODE_HOME",
  extension: KILO_EXTENSION,
  others: [".kilocode/cli/global/tasks"],
});
