import type { OpenCalls } from "../../model/open-calls.ts";
import { shorten } from "../../model/parts/content.ts";
import type { SessionSummary, StatusRule } from "../../model/session.ts";
import { ROW_TEXT_LIMIT } from "../../model/transcript/summarize.ts";
import type { Format } from "../../sources/contract.ts";
import type { Links } from "./links.ts";
import { createProcessStates, type Terminals } from "./process-states.ts";
import { isArchivedLog } from "./record-logs/log-writer.ts";
import { type IndexedSession, modifiedAt } from "./session-file.ts";
import { createTitles } from "./titles.ts";
import type { WatchRoot } from "./watch/found-file.ts";

/** Computes whether sessions run, and their rows: from frames, process registries, runs and the time. */
export interface Status {
  /** Reads the process registries and titles again. Returns the sessions for which they changed. */
  refreshProcesses(): Promise<Set<string>>;
  /** Whether the agent works on this session, or waits for something other than a prompt. */
  isRunning(state: IndexedSession): boolean;
  /**
   * Whether a turn without a recorded end was stopped by a person: the agent's process became idle after the last record.
   */
  wasStopped(state: IndexedSession): boolean;
  /** The session's current row. */
  present(state: IndexedSession): SessionSummary;
}

interface StatusOptions {
  formats: readonly Format[];
  roots: readonly WatchRoot[];
  indexed: ReadonlyMap<string, IndexedSession>;
  links: Links;
  now: () => number;
  /** An open turn without activity for this time, and without a process in the registry, has ended. Milliseconds. */
  silence: number;
  terminals?: Terminals;
}

/** Creates the rules for the status of sessions. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the states of processes: its rules are short
export function createStatus(options: StatusOptions): Status {
  const { indexed, links, now } = options;
  const titles = createTitles(options.roots);
  const agent_names = new Map(options.formats.map(({ id, name }) => [id, name]));
  const processes = createProcessStates({ ...options, titles });
  const { registeredName, processOf, wasStopped, endedAt, isIdleByHook } = processes;

  const isRunning = (state: IndexedSession, depth = 0): boolean => runningRule(state, depth) !== undefined;

  /** The rule by which a session counts as running; `undefined`: it does not run. */
  function runningRule(state: IndexedSession, depth = 0): StatusRule["rule"] | undefined {
    if (state.entry.gone) return undefined;
    const register = processOf(state);
    if (register?.busy) return "register";
    if (register?.background) return "background";
    const runs = [...links.runsOf(state.id)].flatMap((id) => indexed.get(id) ?? []);
    // Background runs outlive the turn that started them.
    if (depth < 16 && runs.some((one) => isRunning(one, depth + 1))) return "run";
    if (state.summary.status !== "running") return undefined;
    // The process went idle after the last record: a person may have stopped it before it wrote anything.
    if (wasStopped(state) || endedAt(state) !== undefined || isIdleByHook(register)) return undefined;
    if (now() - modifiedAt(state.entry) < options.silence && !isCopied(state)) return "recent";
    if (register) return register.busy === false ? undefined : "register";
    // A run has no process of its own. It runs while its parent's process is alive and waits for it.
    const link = links.of(state.id);
    const parent = link && indexed.get(link.parent);
    if (!parent || processOf(topOf(parent, { indexed, links })) === undefined) return undefined;
    return parent.open_calls.some(({ id }) => id === link?.tool_call_id) ? "parent" : undefined;
  }

  /** The rule for a state reported by the agent's process, in its registry or by its server. */
  function registerRule(state: IndexedSession): StatusRule {
    const { since, by: rule = "register" } = processOf(state) ?? {};
    return { rule, ...(since !== undefined && { since }) };
  }

  function statusRuleOf(state: IndexedSession, rule: StatusRule["rule"] | undefined): StatusRule {
    if (rule === "register") return registerRule(state);
    if (rule !== undefined) return { rule };
    const { status, end_inferred, only_notes, ends_in_error } = state.summary;
    const has_end =
      (status !== "running" && end_inferred !== true) || only_notes === true || ends_in_error === true;
    // That the file was deleted says nothing more about the end.
    if (state.entry.gone)
      return { rule: has_end || isAnswered(state) || status === "completed" ? "gone" : "silence" };
    if (has_end) return { rule: "record" };
    if (isIdleByHook(processOf(state))) return registerRule(state);
    const ended = endedAt(state);
    if (ended !== undefined && !isAnswered(state)) return { rule: "ended", since: ended };
    const stopped_at = wasStopped(state) ? processes.idleSince(state) : undefined;
    if (isAnswered(state) || status === "completed") return { rule: "answered" };
    return stopped_at === undefined ? { rule: "silence" } : { rule: "stopped", since: stopped_at };
  }

  return {
    refreshProcesses: processes.refresh,
    isRunning: (state) => isRunning(state),
    wasStopped,
    present(state) {
      const { activity, only_notes: _, ends_in_error: __, ...summary } = state.summary;
      const rule = runningRule(state);
      const running = rule !== undefined;
      const register = state.entry.gone ? undefined : processOf(state);
      const doing = activityOf(state.open_calls) ?? (register?.background ? BACKGROUND_COMMAND : activity);
      const link = links.of(state.id);
      const continued_in = continuationOf(state, { indexed, links });
      const name = state.entry.gone ? undefined : registeredName(state);
      const requests = name === undefined ? [] : (options.terminals?.requestsOf(name) ?? []);
      const title = summary.title ?? titles.of(links.registeredAs(state.id));
      return {
        ...summary,
        // An export contains another agent's session.
        agent_name: agent_names.get(summary.agent) ?? state.entry.format.name,
        ...(title !== undefined && { title: shorten(title, ROW_TEXT_LIMIT) }),
        status: running
          ? "running"
          : summary.status === "running"
            ? silentEnd(state, { stopped: wasStopped(state), idle: isIdleByHook(register) })
            : summary.status,
        status_rule: register?.waiting ? registerRule(state) : statusRuleOf(state, rule),
        ...(running && doing !== undefined && { activity: doing }),
        ...(register?.waiting && {
          waiting: {
            ...(register.waiting.for !== undefined && { for: shorten(register.waiting.for, ROW_TEXT_LIMIT) }),
            ...(register.since !== undefined && { since: register.since }),
            ...(register.terminal && { terminal: register.terminal }),
          },
        }),
        ...(requests.length > 0 && { requests: [...requests] }),
        ...(name !== undefined && options.terminals?.takesPrompts?.(name) && { takes_prompts: true }),
        ...(link && {
          parent: {
            session_id: link.parent,
            ...(link.tool_call_id !== undefined && { tool_call_id: link.tool_call_id }),
          },
        }),
        ...(continued_in && { continued_in }),
        runs: links.runsOf(state.id).size,
        last_activity_at: summary.last_activity_at || modifiedAt(state.entry),
        ...((state.entry.gone || isArchivedLog(state.entry.path)) && { archived: true }),
        ...(state.entry.sample && { sample: true }),
        file: summary.file ?? state.entry.path,
        byte_size: state.entry.gone
          ? (state.entry.identity?.size ?? 0)
          : (state.entry.seen?.size ?? state.entry.identity?.size ?? 0),
      };
    },
  };
}

/** The session above all runs that contain this one. */
function topOf(
  state: IndexedSession,
  { indexed, links }: Pick<StatusOptions, "indexed" | "links">,
): IndexedSession {
  let top = state;
  for (let depth = 0; depth < 16; depth++) {
    const parent = indexed.get(links.of(top.id)?.parent ?? "");
    if (!parent) break;
    top = parent;
  }
  return top;
}

/** The session that continues this one after a rewind; the last one if there are several. */
function continuationOf(
  { id }: IndexedSession,
  { indexed, links }: Pick<StatusOptions, "indexed" | "links">,
): SessionSummary["continued_in"] {
  const later = [...links.registered(links.registeredAs(id)).later].sort().reverse();
  for (const session_id of later) {
    const from = indexed.get(session_id)?.summary.forked_from;
    if (from?.session_id !== id) continue;
    return { session_id, ...(from.at_byte !== undefined && { at_byte: from.at_byte }) };
  }
  return undefined;
}

/** Activity of a session whose turn ended while one of its shell commands still runs. */
const BACKGROUND_COMMAND = "background command";

/** If the last record is older than the last modification by more than this, the file is a copy. Milliseconds. */
const COPY_AGE_MS = 24 * 3_600_000;

/** Whether the file was copied after its session ended. Then its modification time says nothing about its agent. */
function isCopied({ entry, summary }: IndexedSession): boolean {
  return (
    !entry.grew && summary.last_activity_at > 0 && modifiedAt(entry) - summary.last_activity_at > COPY_AGE_MS
  );
}

/** Whether the last record is a text without tool calls, of an agent that may not record the end of its turn. */
const isAnswered = ({ entry, summary, open_calls }: IndexedSession): boolean =>
  entry.format.recordsTurnEnds !== true && summary.activity === "text" && open_calls.length === 0;

/**
 * The status of a turn without a recorded end. It has failed if its last record is an error. It has completed if its last record is
 * text, or if it contains only notes (see `finalizeTranscript`). `idle`: a hook reported the end of the turn.
 */
function silentEnd(
  state: IndexedSession,
  { stopped, idle }: { stopped: boolean; idle: boolean },
): SessionSummary["status"] {
  if (state.summary.ends_in_error === true) return "failed";
  if (state.summary.only_notes === true || isAnswered(state) || (idle && state.open_calls.length === 0))
    return "completed";
  return stopped || idle ? "interrupted" : "failed";
}

function activityOf(open_calls: OpenCalls): string | undefined {
  const [first, ...others] = open_calls;
  if (!first) return undefined;
  const name = shorten(first.name.split("\n", 1)[0] ?? first.name, ROW_TEXT_LIMIT);
  return others.length > 0 ? `${name} and ${others.length} more` : name;
}
