import { endOrphans } from "../../agent/processes.ts";
import { finalizingFrames, openRequests } from "./finalize.ts";
import type { Recorder } from "./record/recorder.ts";

interface Kept {
  calls: Set<string>;
  requests: Set<string>;
}

/**
 * Settles the sessions whose turns the daemon's end cut off: what was open in them is told as interrupted and their turns
 * as failed, by frames as any agent would send them, and what still runs of their commands is ended. A turn that waits for
 * a person's answer stays open, and with it the turns of the sessions that wait for that run, where all their agents can go
 * on: those are given back, runs before their parents.
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
  const worked_until = new Map<Recorder, number>();
  for (const recorder of options.sessions) {
    for (const one of lineage(recorder, by_id)) {
      const at = Math.max(worked_until.get(one) ?? 0, recorder.summary.last_activity_at);
      worked_until.set(one, at);
    }
  }
  for (const recorder of options.sessions) {
    const keep = kept.get(recorder);
    const { transcript } = recorder.buffer;
    const turn_id = transcript.turns.at(transcript.turns.length - 1)?.id;
    // Until then it, or a run that it waited for, worked for certain: how long the daemon was away is no time of the turn's.
    const at = worked_until.get(recorder) ?? recorder.summary.last_activity_at;
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
    // Nobody stopped it, unless somebody had just before.
    const status = transcript.open.outcome ?? "failed";
    recorder.emit({ type: "turn.end", session_id: recorder.id, at, turn_id, status });
  }
  return [...kept.keys()];
}

/** A command outlives a daemon that was killed: nobody would see what it still does. Gives what is to be said of it. */
function endCommand({ id }: Recorder, tool_call_id: string): string | undefined {
  const found = endOrphans(id, tool_call_id);
  if (found === "none") return undefined;
  return found === "ending"
    ? "The daemon ended while this ran. What it had left running was told to end when the daemon was back."
    : "The daemon ended while this ran: it may still run.";
}

/** The session, its parent, and so on; `undefined` where one of them does not wait any more. */
function ancestors(recorder: Recorder, by_id: ReadonlyMap<string, Recorder>): Recorder[] | undefined {
  const chain = lineage(recorder, by_id);
  return chain.at(-1)?.config.parent === undefined ? chain : undefined;
}

/** The session, its parent, and so on, as far as they were cut off. */
function lineage(recorder: Recorder, by_id: ReadonlyMap<string, Recorder>): Recorder[] {
  const chain: Recorder[] = [];
  for (let one: Recorder | undefined = recorder; one && !chain.includes(one); ) {
    chain.push(one);
    const { parent }: Recorder["config"] = one.config;
    one = parent && by_id.get(parent.session_id);
  }
  return chain;
}

/** No message was being written: such a one is lost to its agent. */
function isCutBetweenMessages({ buffer }: Recorder): boolean {
  return buffer.transcript.open.message_id === undefined;
}
