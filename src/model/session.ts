import * as z from "zod";
import { usage } from "./messages/message.ts";
import { milliseconds, optional, record, uuid } from "./record.ts";
import { ruleAlert } from "./rules/alert.ts";
import { textCode } from "./text/coded-text.ts";

/** The session that this one continues. `rewind`: the same conversation, rewound to that place. */
const forkedFrom = record({
  session_id: uuid,
  at_byte: optional(z.number()),
  rewind: optional(z.boolean()),
});

/** Facts about a sub-agent's run. `phase`: the phase of the workflow that it belongs to. */
const runFacts = record({
  name: optional(z.string()),
  task: optional(z.string()),
  depth: optional(z.number()),
  phase: optional(z.string()),
});

/** Facts about a session as a whole. All fields are optional: a later patch overrides them, field by field. */
export const sessionPatch = record({
  /** A format id: `claude-code`, `codex`. */
  agent: optional(z.string()),
  agent_version: optional(z.string()),
  title: optional(z.string()),
  /** The folder that the agent worked in. */
  cwd: optional(z.string()),
  /** The agent's own storage of the session, if it is not the file that was read. */
  file: optional(z.string()),
  git_branch: optional(z.string()),
  /** The repository of that folder by its remote, as `repositoryName` names it: `github.com/jdx/mise`. */
  repository: optional(z.string()),
  model: optional(z.string()),
  /** For a sub-agent's run: the session that started it and, once linked, the call. */
  parent: optional(record({ session_id: uuid, tool_call_id: optional(z.string()) })),
  run: optional(runFacts),
  forked_from: optional(forkedFrom),
  /**
   * The cost of the whole session according to the agent, in US dollars, including runs, titles and failed attempts. A copied
   * session continues the original's figure. `partial`: the price of some model is unknown.
   */
  agent_cost: optional(record({ usd: z.number(), partial: optional(z.boolean()) })),
  /** One of the samples that ship with Verbatim. */
  sample: optional(z.boolean()),
  /** The provider of the model. */
  provider: optional(z.string()),
  /** A script is played instead of a model. */
  scripted: optional(z.boolean()),
});
export type SessionPatch = z.infer<typeof sessionPatch>;

/**
 * `running`: the agent works, or waits in the middle of a turn; `completed`, `failed`, `interrupted`: how the last turn ended.
 */
export const sessionStatus = z.enum(["running", "completed", "failed", "interrupted"]);
export type SessionStatus = z.infer<typeof sessionStatus>;

/** What the user can do with a managed session. */
export const sessionControl = record({
  /** `idle`: accepts a prompt; `working`; `waiting`: for answers to `requests`; `closed`: its agent no longer exists. */
  state: z.enum(["idle", "working", "waiting", "closed"]),
  can_steer: z.boolean(),
  can_fork: z.boolean(),
  can_compact: z.boolean(),
  can_switch_model: z.boolean(),
  takes_images: z.boolean(),
  /**
   * Queued prompts, in order. `text`: their first 200 characters on one line. `held`: kept by a rewind until the user starts
   * them.
   */
  queued: z.array(record({ message_id: uuid, text: z.string(), held: optional(z.boolean()) })),
});
export type SessionControl = z.infer<typeof sessionControl>;

/** An open request, as shown in the list. The part with this id in the transcript has the complete request. */
export const openRequest = record({
  request_id: uuid,
  kind: z.enum(["approval", "question"]),
  title: z.string(),
  title_code: optional(textCode),
  asked_at: milliseconds,
  expires_at: optional(milliseconds),
  /** The call that waits for the answer. */
  tool_call_id: optional(z.string()),
  /**
   * Asked by an agent in a terminal, which shows the same question. It is not in the transcript: `GET
   * /api/sessions/:id/open-requests` returns all of it.
   */
  in_terminal: optional(z.boolean()),
});
export type OpenRequest = z.infer<typeof openRequest>;

/**
 * Where an agent's own terminal is, if known. `tty`: its device, such as `pts/3`; `tmux`: its pane, as
 * `session:window.pane`; `program`: the terminal's program, as it names itself in `TERM_PROGRAM`.
 */
export const terminalPlace = record({
  pid: z.number(),
  tty: optional(z.string()),
  tmux: optional(z.string()),
  program: optional(z.string()),
});
export type TerminalPlace = z.infer<typeof terminalPlace>;

/**
 * What an agent that this daemon does not run waits for, according to its own process registry, server, hooks or records. The
 * user answers in the agent's own terminal. `for`: in the agent's words (Claude Code: `permission prompt`, `input needed`,
 * `dialog open`, ...).
 */
export const agentWait = record({
  for: optional(z.string()),
  since: optional(milliseconds),
  terminal: optional(terminalPlace),
});
export type AgentWait = z.infer<typeof agentWait>;

/**
 * The rule that determined a session's status. `register`: its process reports it in the agent's process registry, with `since`;
 * `server`: the agent's own server reports it; `lock`: its records say so, and its process has locked the session; `hook`: its
 * hook reported it; `background`: the registry lists a command that is still running; `run`: one of its sub-agents works;
 * `recent`: the turn is open, and the file was written within the last minute; `parent`: the session that started this run waits
 * for its result; `stopped`: the turn is open, and the process has been idle since a time after its last record; `ended`: the
 * turn is open, and the process ended after its last record; `answered`: the turn has no recorded end, and its last record is an
 * answer without tool calls; `silence`: the turn is open, nothing was recorded for a minute, and no process has the session open;
 * `record`: the record itself; `gone`: the agent's file no longer exists.
 */
export const statusRule = record({
  rule: z.enum([
    "register",
    "server",
    "lock",
    "hook",
    "background",
    "run",
    "recent",
    "parent",
    "stopped",
    "ended",
    "answered",
    "silence",
    "record",
    "gone",
  ]),
  since: optional(milliseconds),
});
export type StatusRule = z.infer<typeof statusRule>;

/**
 * A row of the session list. Folded from frames by `summarize`, which truncates its texts to 1,000 characters and `cwd` to 4,096.
 * Only the daemon sets `status` and `archived`.
 */
export const sessionSummary = record({
  id: uuid,
  agent: z.string(),
  /** The agent's display name; absent if only its id is known. Set by the daemon from its lists of sources and agents. */
  agent_name: optional(z.string()),
  agent_version: optional(z.string()),
  title: optional(z.string()),
  /** At most 200 characters. */
  first_prompt: optional(z.string()),
  cwd: optional(z.string()),
  git_branch: optional(z.string()),
  repository: optional(z.string()),
  model: optional(z.string()),
  status: sessionStatus,
  /** For sessions in files: how `status` and `waiting` were determined. */
  status_rule: optional(statusRule),
  /** The current activity: the tool or kind of the last open part, on one line. Only while running. */
  activity: optional(z.string()),
  /** The last turn has nothing but notes, and its prompt may follow them. Only while running; used by the daemon. */
  only_notes: optional(z.boolean()),
  /** The last turn's last record is an error. Only while running; used by the daemon. */
  ends_in_error: optional(z.boolean()),
  started_at: optional(milliseconds),
  last_activity_at: milliseconds,
  turns: z.number(),
  steps: z.number(),
  tool_calls: z.number(),
  errors: z.number(),
  parts: z.number(),
  usage: optional(usage),
  parent: optional(record({ session_id: uuid, tool_call_id: optional(z.string()) })),
  run: optional(runFacts),
  forked_from: optional(forkedFrom),
  agent_cost: optional(record({ usd: z.number(), partial: optional(z.boolean()) })),
  /** The end of the last turn is not recorded, but inferred because the file is no longer written. */
  end_inferred: optional(z.boolean()),
  /** The session that continues this one. What follows that byte here was abandoned. */
  continued_in: optional(record({ session_id: uuid, at_byte: optional(z.number()) })),
  runs: z.number(),
  sample: optional(z.boolean()),
  provider: optional(z.string()),
  scripted: optional(z.boolean()),
  /** An agent in a terminal has the session open and accepts prompts from this daemon. */
  takes_prompts: optional(z.boolean()),
  /** Present if this daemon runs the session. */
  control: optional(sessionControl),
  /** Open requests of this session itself, not of its runs. */
  requests: optional(z.array(openRequest)),
  /** Present while a session of another process waits for its user. */
  waiting: optional(agentWait),
  /**
   * Number of parts at the session's end that were never on screen. Absent: none, or the row is of a run or a sample. Set by the
   * daemon, as are `unread` and `notes`.
   */
  new_parts: optional(z.number()),
  /** Marked as unread by a user. */
  unread: optional(z.boolean()),
  pinned: optional(z.boolean()),
  /** Notes on the session and its parts, set by the daemon. `revision` increases with every change of one of them. Absent: none. */
  notes: optional(record({ count: z.number(), revision: z.number() })),
  /** Alerts of the users' rules for the session, set by the daemon. Absent: none. */
  alerts: optional(z.array(ruleAlert)),
  /** The agent's file no longer exists: shown from the archive. */
  archived: optional(z.boolean()),
  /** The agent's file, for display. */
  file: optional(z.string()),
  byte_size: z.number(),
});
export type SessionSummary = z.infer<typeof sessionSummary>;

/** Whether a session has unseen parts, or is marked as unread. */
export const isUnread = ({ new_parts, unread }: SessionSummary): boolean =>
  unread === true || (new_parts !== undefined && new_parts > 0);

/** Whether the last turn has no recorded end, and nothing works on it any more. */
export const hasNoEnd = ({ status_rule }: Pick<SessionSummary, "status_rule">): boolean =>
  status_rule?.rule === "silence" || status_rule?.rule === "ended";

/** Whether a session itself waits for a person. Its runs are not included. */
export const isWaiting = ({ requests, waiting }: SessionSummary): boolean =>
  waiting !== undefined || (requests !== undefined && requests.length > 0);
