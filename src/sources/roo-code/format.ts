import { asNumber, asObject, asString } from "../../model/narrow.ts";
import type { Format } from "../contract.ts";
import { textOfHead } from "../conversation/head.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { taskReader } from "./reader.ts";
import { hasTask, storeOf, taskSessions } from "./stores.ts";

/** Folders in which editors that run VS Code extensions keep what these write, below the home folder. */
const EDITORS = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"].flatMap((editor) =>
  [".config", "Library/Application Support", "AppData/Roaming"].map(
    (base) => `${base}/${editor}/User/globalStorage`,
  ),
);
const REMOTE = [".vscode-server/data/User/globalStorage", ".vscode-remote/data/User/globalStorage"];

interface Extension {
  id: string;
  name: string;
  variable: string;
  extension: string;
  /** Folders of tasks elsewhere. */
  others?: string[];
}

/** An extension that keeps each task in a folder of rewritten documents; the format began with Cline. */
function taskFormat({ id, name, variable, extension, others = [] }: Extension): Format {
  return recordLinesFormat({
    id,
    name,
    root: {
      variable,
      home: ".",
      folders: [...[...EDITORS, ...REMOTE].map((folder) => `${folder}/${extension}/tasks`), ...others],
    },
    classify: () => undefined,
    detect: (head) => id === ROO && isTask(head),
    snapshots: {
      storeOf,
      recognizes: (store) => hasTask(store) && isOf(store.path, extension),
      sessions: (store) => taskSessions(store),
      // A copy of the repository for each task.
      skips: ["checkpoints"],
    },
    reader: taskReader(id),
  });
}

const ROO = "roo-code";
const CLINE_EXTENSION = "saoudrizwan.claude-dev";

/** A copied folder names no extension: it is taken for Roo Code's, which writes the same as Cline did. */
const isOf = (path: string, extension: string): boolean =>
  extension === CLINE_EXTENSION ? path.includes(extension) : !path.includes(CLINE_EXTENSION);

/** The first bytes of `ui_messages.json`. */
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
  // A name of ours: Roo Code has none.
  variable: "ROO_CODE_HOME",
  extension: "rooveterinaryinc.roo-cline",
});

/** Cline as an extension of VS Code, before its tasks became the sessions of `cline`. */
export const clineTasks = taskFormat({
  id: "cline-vscode",
  name: "Cline (VS Code)",
  // A name of ours: the extension has none.
  variable: "CLINE_VSCODE_HOME",
  extension: CLINE_EXTENSION,
  others: [".cline/data/tasks"],
});
