import { randomUUID } from "node:crypto";
import type { RunOptions, RunReport, TurnOutcome } from "../../agent/agent.ts";
import type { SessionPatch } from "../../model/session.ts";
import { tokensOf } from "../../model/tokens.ts";
import { callPositionOf } from "../../model/transcript/accumulate.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import type { SessionConfig } from "../../store/history/session-config.ts";
import type { Host } from "./host.ts";
import type { ManagedSession } from "./managed-session.ts";

/** Sessions that were started by calls of other sessions. */
export interface Runs {
  /** See `AgentHost.startRun`. A call that already started a run continues it. */
  start(parent: ManagedSession, options: RunOptions, signal: AbortSignal): Promise<RunReport>;
  /** Ids of all sessions below one, at any depth. */
  below(id: string): string[];
}

export function createRuns(options: {
  entries: ReadonlyMap<string, ManagedSession>;
  begin(id: string, config: SessionConfig, patch: SessionPatch): ManagedSession;
  load(entry: ManagedSession): Promise<unknown>;
  hostOf(entry: ManagedSession): Host;
  now: () => number;
}): Runs {
  const { entries, begin, load, hostOf, now } = options;

  /** The run that this call started. The same call id in a later turn is another call. */
  function known(parent: ManagedSession, tool_call_id: string): ManagedSession | undefined {
    const transcript = parent.recorder?.buffer.transcript;
    const position = transcript && callPositionOf(transcript, tool_call_id);
    const call = position === undefined ? undefined : transcript?.parts.at(position);
    return call?.type === "tool_call" && call.run ? entries.get(call.run.session_id) : undefined;
  }

  function create(parent: ManagedSession, run: RunOptions): ManagedSession {
    const { tool_call_id, name, task, prompt } = run;
    const { parent: _, ...inherited } = parent.recorder?.config ?? parent.config;
    const depth = inherited.depth + 1;
    const id = randomUUID();
    const link = { session_id: parent.id, tool_call_id };
    const facts = { ...(name === undefined ? {} : { name }), ...(task === undefined ? {} : { task }) };
    const { agent, model, cwd } = inherited;
    const row = parent.recorder?.summary ?? parent.summary;
    const entry = begin(
      id,
      { ...inherited, depth, parent: link, created_at: now() },
      {
        agent,
        cwd,
        ...(model === undefined ? {} : { model }),
        ...(row.provider === undefined ? {} : { provider: row.provider }),
        ...(row.scripted === undefined ? {} : { scripted: row.scripted }),
        parent: link,
        run: { ...facts, depth },
      },
    );
    const at = now();
    parent.recorder?.emit({
      type: "task.start",
      session_id: parent.id,
      at,
      tool_call_id,
      sub_agent: { session_id: id, ...facts },
    });
    entry.recorder?.emit({ type: "task.start", session_id: id, at, sub_agent: { session_id: id, ...facts } });
    hostOf(entry).send(
      { message_id: randomUUID(), parts: [{ type: "text", text: prompt }] },
      "queue",
      "agent",
    );
    return entry;
  }

  return {
    async start(parent, run, signal) {
      const started = now();
      const entry = known(parent, run.tool_call_id) ?? create(parent, run);
      await load(entry);
      const host = hostOf(entry);
      const stop = () => host.stop();
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      const outcome = (await host.ended()) ?? outcomeOf(entry);
      signal.removeEventListener("abort", stop);
      parent.recorder?.emit({
        type: "task.finish",
        session_id: parent.id,
        at: now(),
        tool_call_id: run.tool_call_id,
        status: outcome,
      });
      const row = entry.recorder?.summary ?? entry.summary;
      return {
        session_id: entry.id,
        outcome,
        ...(entry.recorder ? lastText(entry.recorder.buffer.transcript) : { text: "" }),
        ...(row.usage === undefined ? {} : { tokens: tokensOf(row.usage) }),
        tool_calls: row.tool_calls,
        duration_ms: now() - started,
      };
    },
    below(id) {
      const by_parent = Map.groupBy(entries.values(), ({ config }) => config.parent?.session_id);
      // Iterating a set includes entries that are added during the loop, so each session is visited once.
      const found = new Set([id]);
      for (const above of found) for (const run of by_parent.get(above) ?? []) found.add(run.id);
      found.delete(id);
      return [...found];
    },
  };
}

function outcomeOf({ recorder, summary }: ManagedSession): TurnOutcome {
  const { status } = recorder?.summary ?? summary;
  return status === "running" ? "interrupted" : status;
}

function lastText({ parts }: Transcript): Pick<RunReport, "text" | "is_earlier"> {
  let is_earlier = false;
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts.at(index);
    if (part?.type === "text" && part.text !== "") return { text: part.text, is_earlier };
    if (part?.type === "step_start") is_earlier = true;
  }
  return { text: "" };
}
