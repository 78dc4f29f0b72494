import type { Checkpoint } from "./contract.ts";

/** Maximum size of a checkpoint's state, in bytes of UTF-8. */
export const MAX_CHECKPOINT = 256 * 1024;

/** Makes a checkpoint of a state that is plain JSON; `undefined`: it is larger than `MAX_CHECKPOINT`. */
export function saveCheckpoint(agent: string, byte: number, state: object): Checkpoint | undefined {
  const text = JSON.stringify(state);
  const size = text.length > MAX_CHECKPOINT ? text.length : new TextEncoder().encode(text).length;
  return size > MAX_CHECKPOINT ? undefined : { agent, byte, state: text };
}

/** Parses the state of a checkpoint. Throws if a reader of another agent made it. */
export function savedState(checkpoint: Checkpoint, agent: string): unknown {
  if (checkpoint.agent !== agent)
    throw new Error(`A checkpoint of "${checkpoint.agent}" cannot resume a reader of "${agent}".`);
  return JSON.parse(checkpoint.state);
}
