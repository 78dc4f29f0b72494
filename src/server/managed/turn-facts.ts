import type { Turn } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";

/** Whether a turn is the running one, or one that the agent reported within it. */
export function isCurrentTurn(
  { turns }: Transcript,
  turn_id: string,
  running_id: string | undefined,
): boolean {
  // Turns that the agent itself reports within the running one are stopped with it.
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const id = turns.at(index)?.id;
    if (id === turn_id) return running_id !== undefined;
    if (id === running_id) return false;
  }
  return false;
}

/** Whether no prompt came since the last compaction. The end of the compaction may not be on disk yet. */
export function isCompacted(transcript: Transcript): boolean {
  const { turns } = transcript;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns.at(index);
    if (turn?.retracted !== undefined) continue;
    if (!turn || isPrompted(transcript, turn)) return false;
    return turn.status === "completed" || turn.status === "running";
  }
  return false;
}

/** Whether the turn has a prompt, also a steered one. */
function isPrompted({ parts }: Transcript, { first_part, part_count }: Turn): boolean {
  for (let index = first_part; index < first_part + part_count; index += 1)
    if (parts.at(index)?.type === "prompt") return true;
  return false;
}
