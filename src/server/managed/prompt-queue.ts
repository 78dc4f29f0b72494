import type { Prompt } from "../../agent/agent.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { Refused } from "../sessions/refused.ts";
import type { Recorder } from "./record/recorder.ts";

/** Maximum number of withdrawn prompts that a session remembers. */
const MAX_WITHDRAWN = 200;

/** Whether the session already has this prompt: in its record, in its queue, or withdrawn. */
export function isKnownPrompt(recorder: Recorder, message_id: string): boolean {
  const { queue, withdrawn } = recorder.state;
  return (
    recorder.prompts.has(message_id) ||
    withdrawn.includes(message_id) ||
    queue.some((prompt) => prompt.message_id === message_id)
  );
}

/** A queued prompt. Throws a `Refused` if there is none. */
export function queuedPrompt(recorder: Recorder, message_id: string): Prompt {
  const found = recorder.state.queue.find((prompt) => prompt.message_id === message_id);
  if (found === undefined) throw new Refused(404, "no_prompt", daemonText("prompt_unknown"));
  return found;
}

/** Removes a prompt from the queue. `false`: this withdrawal was already made. Throws a `Refused` if there is no such prompt. */
export function withdrawPrompt(recorder: Recorder, message_id: string, withdrawal_id?: string): boolean {
  const { queue, withdrawn, withdrawals = [] } = recorder.state;
  if (withdrawn.includes(message_id)) {
    if (withdrawal_id === undefined || withdrawals.includes(withdrawal_id)) return false;
    throw new Refused(404, "no_prompt", daemonText("prompt_withdrawn"));
  }
  if (recorder.prompts.has(message_id)) {
    throw new Refused(409, "begun", daemonText("prompt_begun"), daemonText("stop_instead"));
  }
  const kept = queue.filter((prompt) => prompt.message_id !== message_id);
  if (kept.length === queue.length) throw new Refused(404, "no_prompt", daemonText("prompt_unknown"));
  recorder.setState({
    queue: kept,
    withdrawn: [...withdrawn, message_id].slice(-MAX_WITHDRAWN),
    ...(withdrawal_id && { withdrawals: [...withdrawals, withdrawal_id].slice(-MAX_WITHDRAWN) }),
  });
  return true;
}
