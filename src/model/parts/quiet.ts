import { asObject, asString } from "../narrow.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";

/** Settings for which parts get their own rows. */
export interface RowSettings {
  readonly showSteps: boolean;
  /** Includes quiet parts (`isQuiet`), which are otherwise folded into a neighbouring row. */
  readonly everyRecord?: boolean;
}

/** Hooks whose plain-text output is sent to the model. */
const MODEL_NOTES = new Set(["UserPromptSubmit", "SessionStart"]);

/** Whether a part contains nothing of interest: a thought without text, a hook that succeeded and changed nothing. */
export function isQuiet(part: TranscriptPart): boolean {
  if (part.retracted !== undefined) return false;
  if (part.type === "thinking")
    return part.thinking === "" && part.open !== true && part.hidden !== undefined;
  if (part.type !== "marker" || part.kind !== "hook") return false;
  const data = asObject(part.data);
  if (data?.type !== "hook_success" || (data.exitCode ?? 0) !== 0) return false;
  if (MODEL_NOTES.has(asString(data.hookEvent) ?? "")) return false;
  return !/additionalContext|"decision"|permissionDecision|updatedInput/.test(asString(data.stdout) ?? "");
}
