import * as z from "zod";
import { usage } from "./messages/message.ts";
import { milliseconds, optional, record, uuid } from "./record.ts";

/** The session that another one goes on from. `rewind`: it is the same conversation, which was rewound to that place. */
const forkedFrom = record({
  session_id: uuid,
  at_byte: optional(z.number()),
  rewind: optional(z.boolean()),
});

/** What a source says about a session as a whole. Every field is optional: a later patch wins, field by field. */
export const sessionPatch = record({
  /** A format's id: `claude-code`, `codex`. */
  agent: optional(z.string()),
  agent_version: optional(z.string()),
  title: optional(z.string()),
  /** The folder that the agent worked in. */
  cwd: optional(z.string()),
  /** What the agent keeps it in, where that is not the file that was read. */
  file: optional(z.string()),
  git_branch: optional(z.string()),
  model: optional(z.string()),
  /** A sub-agent's run names the session that started it and, once linked, the call. */
  parent: optional(record({ session_id: uuid, tool_call_id: optional(z.string()) })),
  run: optional(
    record({ name: optional(z.string()), task: optional(z.string()), depth: optional(z.number()) }),
  ),
  forked_from: optional(forkedFrom),
  /**
   * What the agent itself says that the whole session has cost, in US dollars: runs, titles and failed attempts included. A
   * copy goes on with the figure of what it was copied from. `partial`: it knows no price for a model.
   */
  agent_cost: optional(record({ usd: z.number(), partial: optional(z.boolean()) })),
  /** One of the samples that ship with Verbatim. */
  sample: optional(z.boolean()),
  /** The provider that the model is asked at. */
  provider: optional(z.string()),
  /** No model answers: a script is played. */
  scripted: optional(z.boolean()),
});
export type SessionPatch = z.infer<typeof sessionPatch>;

/** `running`: the agent works, or waits in the middle of a turn; `completed`, `failed`, `interrupted`: how the last turn ended. */
export const sessionStatus = z.enum(["running", "completed", "failed", "interrupted"]);
export type SessionStatus = z.infer<typeof sessionStatus>;

/** What a person can do with a session that this daemon runs. */
export const sessionControl = record({
  /** `idle`: takes a prompt; `working`; `waiting`: for the answers in `requests`; `closed`: its agent is gone for good. */
  state: z.enum(["idle", "working", "waiting", "closed"]),
  can_steer: z.boolean(),
  can_fork: z.boolean(),
  can_compact: z.boolean(),
  can_switch_model: z.boolean(),
  takes_images: z.boolean(),
  /** Prompts that wait for the running turn's end, in order; `text` is their first 200 characters, on one line; `held` since a rewind until a person begins them. */
  queued: z.array(record({ message_id: uuid, text: z.string(), held: optional(z.boolean()) })),
});
export type SessionControl = z.infer<typeof sessionControl>;

/** A request that waits for an answer, as the list shows it. The part of that id in the transcript has all of it. */
export const openRequest = record({
  request_id: uuid,
  kind: z.enum(["approval", "question"]),
  title: z.string(),
  asked_at: milliseconds,
  expires_at: optional(milliseconds),
  /**
   * Asked by an agent in a terminal, which shows the same question. It is in no transcript:
   * `GET /api/sessions/:id/open-requests` has all of it.
   */
  in_terminal: optional(z.boolean()),
});
export type OpenRequest = z.infer<typeof openRequest>;

/**
 * What an agent that this daemon does not run waits for, according to its own registry: its user answers in the agent's own
 * terminal. `for`: in the agent's words (Claude Code: `permission prompt`, `input needed`, `dialog open`, ...).
 */
export const agentWait = record({ for: optional(z.string()), since: optional(milliseconds) });
export type AgentWait = z.infer<typeof agentWait>;

/**
 * The rule by which the daemon says how a session stands. `register`: its process says so in the agent's register, `since` then;
 * `server`: the agent's own server says so; `background`: the register names a command that still runs; `run`: a sub-agent of it works; `recent`: the turn is open, and the file
 * was written to within the last minute; `parent`: the session that started this run waits for its result; `stopped`: the turn is open, and
 * the process has rested since a time after its last record; `answered`: the turn has no recorded end, and
 * its last record is an answer that calls nothing; `silence`: the turn is open, nothing was recorded for a minute, and no
 * process has it open; `record`: the record itself says so; `gone`: the agent's file is gone.
 */
export const statusRule = record({
  rule: z.enum([
    "register",
    "server",
    "background",
    "run",
    "recent",
    "parent",
    "stopped",
    "answered",
    "silence",
    "record",
    "gone",
  ]),
  since: optional(milliseconds),
});
export type StatusRule = z.infer<typeof statusRule>;

/**
 * One row of the session list. Folded from frames by `summarize`, which cuts its texts to 1,000 characters and `cwd` to 4,096;
 * the daemon alone decides `status` and `archived`.
 */
export const sessionSummary = record({
  id: uuid,
  agent: z.string(),
  /** As people call the agent; absent where only its id is known. Set by the daemon from its lists of sources and agents. */
  agent_name: optional(z.string()),
  agent_version: optional(z.string()),
  title: optional(z.string()),
  /** At most 200 characters. */
  first_prompt: optional(z.string()),
  cwd: optional(z.string()),
  git_branch: optional(z.string()),
  model: optional(z.string()),
  status: sessionStatus,
  /** Of sessions in files: how the daemon knows `status` and `waiting`. */
  status_rule: optional(statusRule),
  /** What the agent does now: the tool or kind of the last open part, one line. Only while running. */
  activity: optional(z.string()),
  started_at: optional(milliseconds),
  last_activity_at: milliseconds,
  turns: z.number(),
  steps: z.number(),
  tool_calls: z.number(),
  errors: z.number(),
  parts: z.number(),
  usage: optional(usage),
  parent: optional(record({ session_id: uuid, tool_call_id: optional(z.string()) })),
  run: optional(
    record({ name: optional(z.string()), task: optional(z.string()), depth: optional(z.number()) }),
  ),
  forked_from: optional(forkedFrom),
  agent_cost: optional(record({ usd: z.number(), partial: optional(z.boolean()) })),
  /** The record has no end of the last turn: it was ended when nobody wrote any more. */
  end_inferred: optional(z.boolean()),
  /** The same conversation goes on there: what stands behind that byte here was abandoned. */
  continued_in: optional(record({ session_id: uuid, at_byte: optional(z.number()) })),
  runs: z.number(),
  sample: optional(z.boolean()),
  provider: optional(z.string()),
  scripted: optional(z.boolean()),
  /** An agent in a terminal has it open, and takes prompts from here. */
  takes_prompts: optional(z.boolean()),
  /** Present where this daemon runs the session. */
  control: optional(sessionControl),
  /** What this session itself (not a run of it) waits for. */
  requests: optional(z.array(openRequest)),
  /** Present while a session of another process waits for its user. */
  waiting: optional(agentWait),
  /**
   * Parts at the session's end that nobody has had on screen. Absent: none, or the row is of a run or a sample. Set by the daemon,
   * as the next two.
   */
  new_parts: optional(z.number()),
  /** Marked as unread by a person. */
  unread: optional(z.boolean()),
  pinned: optional(z.boolean()),
  /** The agent's file is gone: shown from the archive. */
  archived: optional(z.boolean()),
  /** The agent's file, for show. */
  file: optional(z.string()),
  byte_size: z.number(),
});
export type SessionSummary = z.infer<typeof sessionSummary>;

/** Whether a session has something that nobody has looked at, or is marked so. */
export const isUnread = ({ new_parts, unread }: SessionSummary): boolean =>
  unread === true || (new_parts !== undefined && new_parts > 0);

/** Whether a session itself waits for a person; what its runs wait for is theirs. */
export const isWaiting = ({ requests, waiting }: SessionSummary): boolean =>
  waiting !== undefined || (requests !== undefined && requests.length > 0);
