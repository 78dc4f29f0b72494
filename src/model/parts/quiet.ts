import { asObject, asString } from "../narrow.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";

/** What a reader wants to see in rows of its own. */
export interface RowSettings {
  readonly showSteps: boolean;
  /** Also what says nothing by itself (`isQuiet`), which is else folded into a row beside it. */
  readonly everyRecord?: boolean;
}

/** Hooks whose output goes to the model although it is plain text. */
const TELLS_MODEL = new Set(["UserPromptSubmit", "SessionStart"]);

/** Whether a part says nothing that a reader looks for: a thought without text, a hook that succeeded and changed nothing. */
export function isQuiet(part: TranscriptPart): boolean {
  if (part.retracted !== undefined) return false;
  if (part.type === "thinking")
    return part.thinking === "" && part.open !== true && part.hidden !== undefined;
  if (part.type !== "marker" || part.kind !== "hook") return false;
  const data = asObject(part.data);
  if (data?.type !== "hook_success" || (data.exitCode ?? 0) !== 0) return false;
  if (TELLS_MODEL.has(asString(data.hookEvent) ?? "")) return false;
  return !/additionalContext|"decision"|permissionDecision|updatedInput/.test(asString(data.stdout) ?? "");
}
