import { endOrphans } from "../../agent/processes.ts";
import { finalizingFrames, openRequests } from "./finalize.ts";
import type { Recorder } from "./record/recorder.ts";

interface Kept {
  calls: Set<string>;
  requests: Set<string>;
}

/**
 * Recovers the sessions whose turns were cut off by the end of the daemon. Emits frames that mark open parts as interrupted and
 * the turns as failed, and kills commands that still run. A turn that waits for an answer stays open if its agent can resume it.
 * So do the turns of parent sessions that wait for it, if their agents can. Returns the sessions to resume, runs before their
 * parents.
 */
export function recoverInterrupted(options: {
  sessions: readonly Recorder[];
  canResume(agent: string): boolean;
  now: () => number;
}): Recorder[] {
  const now = options.now();
  const by_id = new Map(options.sessions.map((recorder) => [recorder.id, recorder]));
  const kept = new Map<Recorder, Kept>();
  for (const recorder of options.sessions) {
    const waiting = openRequests(recorder.buffer.transcript).filter(
      ({ request }) => request.expires_at === undefined || request.expires_at > now,
    );
    const chain = waiting.length > 0 ? ancestors(recorder, by_id) : undefined;
    if (!chain?.every((one) => isCutBetweenMessages(one) && options.canResume(one.config.agent))) continue;
    for (const one of chain) if (!kept.has(one)) kept.set(one, { calls: new Set(), requests: new Set() });
    for (const { request } of waiting) {
      kept.get(recorder)?.requests.add(request.request_id);
      if (request.tool_call_id !== undefined) kept.get(recorder)?.calls.add(request.tool_call_id);
    }
    for (const { config } of chain) {
      const parent = config.parent && by_id.get(config.parent.session_id);
      if (config.parent && parent) kept.get(parent)?.calls.add(config.parent.tool_call_id);
    }
  }
  const last_activity = new Map<Recorder, number>();
  for (const recorder of options.sessions) {
    for (const one of lineage(recorder, by_id)) {
      const at = Math.max(last_activity.get(one) ?? 0, recorder.summary.last_activity_at);
      last_activity.set(one, at);
    }
  }
  for (const recorder of options.sessions) {
    const keep = kept.get(recorder);
    const { transcript } = recorder.buffer;
    const turn_id = transcript.turns.at(transcript.turns.length - 1)?.id;
    // The session or its runs were active until then. The time without a daemon does not count as part of the turn.
    const at = last_activity.get(recorder) ?? recorder.summary.last_activity_at;
    recorder.emit(
      ...finalizingFrames(transcript, {
        at,
        now,
        outcome: "interrupted",
        reason: "The daemon ended",
        noteOf: (call) => (call.tool_name === "shell" ? endCommand(recorder, call.tool_call_id) : undefined),
        ...(keep === undefined ? {} : { keep }),
      }),
    );
    if (keep || turn_id === undefined) continue;
    // The turn failed, unless an outcome was recorded just before the end.
    const status = transcript.open.outcome ?? "failed";
    recorder.emit({ type: "turn.end", session_id: recorder.id, at, turn_id, status });
  }
  return [...kept.keys()];
}

/** Kills a command that outlived the daemon, since nobody would see its effects. Returns a note for its output. */
function endCommand({ id }: Recorder, tool_call_id: string): string | undefined {
  const found = endOrphans(id, tool_call_id);
  if (found === "none") return undefined;
  return found === "ending"
    ? "The daemon ended while this was running. Its remaining processes were killed when the daemon restarted."
    : "The daemon ended while this was running. It may still be running.";
}

/** The session, its parent, and so on; `undefined` if one of them is no longer waiting. */
function ancestors(recorder: Recorder, by_id: ReadonlyMap<string, Recorder>): Recorder[] | undefined {
  const chain = lineage(recorder, by_id);
  return chain.at(-1)?.config.parent === undefined ? chain : undefined;
}

/** The session, its parent, and so on, as far as their turns were cut off. */
function lineage(recorder: Recorder, by_id: ReadonlyMap<string, Recorder>): Recorder[] {
  const chain: Recorder[] = [];
  for (let one: Recorder | undefined = recorder; one && !chain.includes(one); ) {
    chain.push(one);
    const { parent }: Recorder["config"] = one.config;
    one = parent && by_id.get(parent.session_id);
  }
  return chain;
}

/** Whether no message was being written. The agent cannot continue an incomplete message. */
function isCutBetweenMessages({ buffer }: Recorder): boolean {
  return buffer.transcript.open.message_id === undefined;
}
