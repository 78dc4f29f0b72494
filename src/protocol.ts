import * as z from "zod";
import type { Comparison } from "./model/compare/compare.ts";
import type { Verification } from "./model/compare/verify.ts";
import type { CallContext } from "./model/context/describe-call.ts";
import type { CostFigures } from "./model/figures/cost.ts";
import type { Figures, TimeFigures } from "./model/figures/figures.ts";
import { frame } from "./model/frames/frame.ts";
import type { LaneBar } from "./model/lanes/lane.ts";
import type { Ledger, LedgerFile } from "./model/ledger/ledger.ts";
import { liveChange, livePart } from "./model/live-text.ts";
import { usage } from "./model/messages/message.ts";
import { note } from "./model/note.ts";
import type { TurnOutline } from "./model/parts/turn-outline.ts";
import { todoItem } from "./model/parts/ui-extra.ts";
import { milliseconds, optional, record, uuid } from "./model/record.ts";
import { answer, request, requestOutcome } from "./model/request.ts";
import { rule } from "./model/rules/rule.ts";
import { PART_STATUSES, SEARCH_KINDS } from "./model/search/query.ts";
import { sessionStatus, sessionSummary } from "./model/session.ts";
import { source, transcriptPart, turn } from "./model/transcript/transcript.ts";
import { openState } from "./model/transcript/transcript-start.ts";

/**
 * What travels between daemon and browser. `docs/specs/http-api.md` is its description for strangers; the constants and
 * schemas here are what both halves run.
 */

/** Header of every REST request with a cookie. Forms and images of other pages cannot set it. */
export const CLIENT_HEADER = "x-verbatim-client";

/** The channel of the list: every session's row, and what changes of it. */
export const sessionsChannel = "sessions";
/** The channel of one session's frames. */
export const outputChannel = (session_id: string): string => `output:${session_id}`;

export { GROWING_LIMIT, OUTPUT_END, OUTPUT_LIMIT, TEXT_LIMIT } from "./model/truncate/limits.ts";

/** Parts in one page of `/api/sessions/:id/parts`, and in the tail of a snapshot. */
export const PAGE_SIZE = 200;
/** Interval at which a client receives the positions of its channels, in milliseconds. */
export const HEARTBEAT_MS = 4_000;

// --- REST -----------------------------------------------------------------------------------------------------------

/** `GET /api/status` */
export const statusReply = record({
  version: z.string(),
  /** The address of the first script of the page that the daemon serves: another one is of another build. */
  build: z.string().optional(),
  instance: z.string(),
  /** Files found, files indexed so far, bytes of both. */
  index: record({
    files_found: z.number(),
    files_done: z.number(),
    bytes_found: z.number(),
    bytes_done: z.number(),
    done: z.boolean(),
  }),
  /** What a person should know: a store that is read only, set aside, newer; a folder that cannot be read. */
  notices: z.array(
    record({
      level: z.enum(["info", "warning", "error"]),
      text: z.string(),
      remedy: optional(z.string()),
      /** It is about an unreadable path, of which there may be many. */
      unread: optional(z.literal(true)),
    }),
  ),
  roots: z.array(record({ agent: z.string(), path: z.string(), exists: z.boolean() })),
});
export type StatusReply = z.infer<typeof statusReply>;

/** `GET /api/sessions`: every session's row, newest first, and the position of the `sessions` channel that it reflects. */
export const sessionsReply = record({
  epoch: z.string(),
  seq: z.number(),
  sessions: z.array(sessionSummary),
});

/** A part with its position in the session. */
export const placedPart = record({ index: z.number(), part: transcriptPart });
export type PlacedPart = z.infer<typeof placedPart>;

/**
 * The folded state of a session as a client gets it: every turn's head, how many parts there are, and some of the parts
 * (the tail, or a page; with them the results of their calls wherever those stand). Parts are cut by `TEXT_LIMIT` and
 * `OUTPUT_LIMIT`, `truncated` giving true lengths and `output_end` an output's last lines; data URLs are replaced by
 * `attachment:<part id>:<n>`.
 */
export const sessionPage = record({
  session: sessionSummary,
  turns: z.array(turn),
  part_count: z.number(),
  parts: z.array(placedPart),
  /** Calls without a result yet, by id: where a later result belongs. */
  open_calls: z.array(z.tuple([z.string(), z.number()])),
  /** Results whose call has not come, by its id. */
  orphan_results: optional(z.array(z.tuple([z.string(), z.number()]))),
  /** The state of the fold: what is open now. */
  open: openState,
  usage: optional(usage),
  todos: optional(z.array(todoItem)),
  context: optional(record({ tokens: z.number(), limit: optional(z.number()) })),
});
export type SessionPage = z.infer<typeof sessionPage>;

/** `GET /api/sessions/:id` → a page with the tail, plus the channel's position for the subscription that follows. */
export const sessionReply = record({ epoch: z.string(), seq: z.number(), page: sessionPage });

/** `GET /api/sessions/:id/parts?from=&to=` (positions, at most `PAGE_SIZE`) */
export const partsReply = record({
  epoch: z.string(),
  seq: z.number(),
  part_count: z.number(),
  parts: z.array(placedPart),
});
export type PartsReply = z.infer<typeof partsReply>;

/**
 * `GET /api/sessions/:id/locate?part=` or `?turn=` or `?call=`, or `?error=` a position and `&by=1` or `-1`: the first failure from
 * there on.
 */
export const locateReply = record({ index: z.number(), part_id: uuid });
export type LocateReply = z.infer<typeof locateReply>;

/** `GET /api/sessions/:id/parts/:part/whole` → the part uncut (attachments still by reference). */
export const wholePartReply = record({ part: transcriptPart });

/** `GET /api/sessions/:id/parts/:part/raw` → the raw record of the agent's file. */
export const rawReply = record({
  file: z.string(),
  /** From 1; 0: it cannot be counted. */
  line: z.number(),
  byte: z.number(),
  length: z.number(),
  /** The record's text; cut at 1 MB, `truncated` then giving its true length. */
  text: z.string(),
  truncated: optional(z.number()),
  archived: z.boolean(),
  /** Position of the record in the agent's store, if that is not `file`. Then `file` is Verbatim's record log. */
  place: optional(source),
});
export type RawReply = z.infer<typeof rawReply>;

/**
 * `GET /api/sessions/:id/parts/:part/output?from=` → the whole output of a call, where its result names a file in which the
 * agent kept it: at most `OUTPUT_PIECE` bytes of plain text. Fewer: it ends there.
 */

/**
 * `GET /api/sessions/:id/attachments/:part/:n` → the bytes that `attachment:<part id>:<n>` stands for, as a download:
 * only plain pictures keep their type.
 */

/** `POST /api/link` with `{}` → an address that signs in one more browser, once. */
export const linkReply = record({ link: z.string() });

/** `GET /api/sessions/:id/search?q=` → at most 1,000 parts that contain the text, in order. Ignores case, Unicode form and width. */
export const searchReply = record({
  total: z.number(),
  /** Number of outputs whose whole is in a file, which is not searched. */
  in_files: z.number(),
  hits: z.array(record({ index: z.number(), part_id: uuid, excerpt: z.string() })),
});
export type SearchReply = z.infer<typeof searchReply>;

/**
 * `GET /api/search?q=&limit=&sort=&cursor=` → parts of all sessions in which the query is found, newest session first or by rank.
 * `limit`: 1 to 100, else 30. `sort`: `newest` or `rank`. `cursor`: `next` of the page before. The language: docs/search.md.
 */
export const searchAllReply = record({
  hits: z.array(
    record({
      /** `id`: the session to open, or the segment of a huge one. */
      session: record({
        id: uuid,
        agent: z.string(),
        title: optional(z.string()),
        cwd: optional(z.string()),
        model: optional(z.string()),
        status: sessionStatus,
        last_activity_at: z.number(),
        is_run: z.boolean(),
      }),
      part: record({
        id: uuid,
        /** `note`: a person's note on the part `id`; on the session, `id` is the note's own id. */
        kind: z.enum(SEARCH_KINDS),
        /** The author; `agent`: the agent's program, or a parent agent. */
        by: z.enum(["person", "model", "tool", "agent"]),
        /** Of a note: its id. */
        note_id: optional(uuid),
        /** Position of its turn, from 0. Absent: a note. */
        turn: optional(z.number()),
        turn_title: optional(z.string()),
        step: optional(z.number()),
        tool: optional(z.string()),
        status: optional(z.enum(PART_STATUSES)),
        at: optional(z.number()),
        /** Only the beginning and end of its text were searched: its true length in UTF-16 code units. */
        full_length: optional(z.number()),
      }),
      /** One line about the first match; ranges in UTF-16 code units of it. */
      snippet: record({ text: z.string(), ranges: z.array(record({ start: z.number(), end: z.number() })) }),
    }),
  ),
  /** Absent: there is no more. A page may end early, and even be empty, where much has to be looked at. */
  next: optional(z.string()),
  /** Sessions in the index, and those of them that this page and the ones before looked at or ruled out. */
  sessions: z.number(),
  searched: z.number(),
  /** Number of files and sessions that are not indexed yet, or only in an older state. */
  not_indexed: z.number(),
  /** Number of parts of which only the beginning and end are searched. */
  cut_parts: z.number(),
  took_ms: z.number(),
});
export type SearchAllReply = z.infer<typeof searchAllReply>;

/** `GET /api/sessions/:id/notes`: oldest first; also of a session, or of parts, that no longer exist. */
export const notesReply = record({ notes: z.array(note) });
export type NotesReply = z.infer<typeof notesReply>;
/**
 * `POST /api/sessions/:id/notes` with `NewNote` and `POST /api/notes/:note` with `NoteChange` → the note as it is now;
 * `POST /api/notes/:note/delete` with `{}` → `{}`.
 */
export const noteReply = record({ note });
export type NoteReply = z.infer<typeof noteReply>;

/** `GET /api/rules`: by name. `POST /api/rules/:rule` with `RuleBody` → the rule as it is now. `…/delete` with `{}` → `{}`. */
export const rulesReply = record({ rules: z.array(rule) });
export type RulesReply = z.infer<typeof rulesReply>;
export const ruleReply = record({ rule });
export type RuleReply = z.infer<typeof ruleReply>;
/** `POST /api/rules/:rule/done/:session` with `{}` → `{}`: a person is done with what the rule says of the session. */
/** `POST /api/rules/try` with `RuleTrialBody`: how often a rule would have applied to past records. */
export const ruleTrialReply = record({
  times: z.number(),
  /** Different sessions among them. */
  sessions: z.number(),
  /** It applied more often: counting ended early. */
  is_more: z.boolean(),
  /** Sessions that were looked at, of all. */
  searched: z.number(),
  all: z.number(),
  /** As in the search. */
  not_indexed: z.number(),
  /** The newest places, at most 50. */
  hits: z.array(
    record({
      session_id: uuid,
      title: optional(z.string()),
      part_id: optional(uuid),
      at: optional(z.number()),
      text: optional(z.string()),
    }),
  ),
});
export type RuleTrialReply = z.infer<typeof ruleTrialReply>;

// --- Sessions that this daemon runs ---------------------------------------------------------------------------------------
// Every change is a POST with JSON, and all but `compact` name what they are about: sent twice (a reply was lost), it is done
// once and answered the same way.

/** `GET /api/agents`: what a new session can be started with. */
export const agentsReply = record({
  /** The folder where the daemon was started: the first suggestion. */
  cwd: z.string(),
  /** What was used last, newest first, at most 10. */
  recent: z.array(record({ agent: z.string(), model: optional(z.string()), cwd: z.string() })),
  agents: z.array(
    record({
      /** What `POST /api/sessions` takes as `agent`: a provider's id, or a configured agent's. */
      id: z.string(),
      title: z.string(),
      /** `provider`: Verbatim's own loop on that provider; `acp`: an agent behind the Agent Client Protocol. */
      kind: z.enum(["provider", "acp"]),
      /** Known models; any other id may be typed where `any_model`. Of `scripted`: its scripts. */
      models: z.array(
        record({
          id: z.string(),
          title: optional(z.string()),
          /** Tokens. */
          context: optional(z.number()),
          /** US dollars for a million tokens. */
          price: optional(record({ input: z.number(), output: z.number() })),
        }),
      ),
      any_model: z.boolean(),
      takes_images: z.boolean(),
      scripted: optional(z.boolean()),
      /** A scratch folder, suggested instead of one that was used before. */
      cwd: optional(z.string()),
      /** Set if it cannot be used now: what is missing, and the remedy. */
      unavailable: optional(record({ message: z.string(), remedy: z.string() })),
    }),
  ),
});
export type AgentsReply = z.infer<typeof agentsReply>;

/** Images of one prompt. */
export const MAX_IMAGES = 10;

/** A prompt as it is typed: text, and images as data URLs (at most `MOST_IMAGES`, 5 MB each). `message_id` makes it once. */
export const promptBody = record({
  message_id: uuid,
  text: z.string(),
  images: optional(z.array(z.string())),
});
export type PromptBody = z.infer<typeof promptBody>;

/** `POST /api/sessions` → 201 `{ session_id }`. `session_id` is the sender's. */
export const newSessionBody = record({
  session_id: uuid,
  agent: z.string(),
  model: optional(z.string()),
  /** Absolute path of an existing folder. */
  cwd: z.string(),
  prompt: promptBody,
});
export type NewSessionBody = z.infer<typeof newSessionBody>;
export const newSessionReply = record({ session_id: uuid });

/** A session that an agent of the kind `acp` stores itself. */
const pastSession = record({
  /** The agent's own id of the session. */
  id: z.string(),
  /** Absolute path of its folder. */
  cwd: z.string(),
  title: optional(z.string()),
  updated_at: optional(milliseconds),
  /** The session of this daemon that continues it. */
  opened_as: optional(uuid),
  /** The session that is read from the agent's files. */
  read_as: optional(uuid),
  /** Another process has it open, so that it cannot be opened here. */
  is_open: optional(z.boolean()),
});
export type PastSession = z.infer<typeof pastSession>;
/**
 * `GET /api/agents/:agent/past-sessions[?cwd=][&cursor=]`: starts the agent's program, which lists its sessions, and ends it. `cwd`: only
 * those of that folder; `cursor`: `next` of the page before.
 */
export const pastSessionsReply = record({
  /** Whether the agent can open them, and then sends their history. */
  opens: z.enum(["with_history", "without_history", "no"]),
  /** In the agent's order. */
  sessions: z.array(pastSession),
  next: optional(z.string()),
});
export type PastSessionsReply = z.infer<typeof pastSessionsReply>;
/**
 * `POST /api/agents/:agent/past-sessions` → 201 `{ session_id }`: a session of this daemon that continues the agent's session `id`: that
 * with the sender's `session_id`, or the one that continues it already.
 */
export const openPastBody = record({
  session_id: uuid,
  id: z.string().min(1),
  cwd: z.string(),
  title: optional(z.string()),
});
export type OpenPastBody = z.infer<typeof openPastBody>;

/** `POST /api/sessions/:id/prompts` → `{}`. While the agent works: `queue` for after the turn, `steer` into it now. */
export const sendPromptBody = record({ prompt: promptBody, when: z.enum(["queue", "steer"]) });
export type SendPromptBody = z.infer<typeof sendPromptBody>;
/** `GET /api/sessions/:id/prompts/:message` → `PromptBody`: the whole of a queued prompt. The row has only its beginning. */
/**
 * `POST /api/sessions/:id/prompts/:message/withdraw` → `{}`: takes a queued prompt back. `withdrawal_id`: of the sender's making,
 * so that of two who do it only one has the prompt.
 */
export const withdrawBody = record({ withdrawal_id: optional(uuid) });
/** `POST /api/sessions/:id/prompts/:message/begin` with `{}` → `{}`: begins a prompt that waits though nothing runs. */
/**
 * `POST /api/sessions/:id/stop` → `{}`: interrupts the turn and all runs below it. `turn_id`: that turn alone, so that one
 * which began meanwhile, unseen, goes on.
 */
export const stopBody = record({ turn_id: optional(uuid) });
export type StopBody = z.infer<typeof stopBody>;
/** `POST /api/sessions/:id/compact` with `{}` → `{}`. `POST /api/sessions/:id/model` with `{ model }` → `{}`. */
export const modelBody = record({ model: z.string() });
/** Length of the shortest passphrase for answers, in UTF-16 units. */
export const MIN_PASSPHRASE = 8;
const passphrase = z.string().max(1_000);
/** `POST /api/answer-passphrase/unlock` → `{ token }`. */
export const unlockBody = record({ passphrase });
export const unlockReply = record({ token: z.string() });
export type UnlockReply = z.infer<typeof unlockReply>;
/** `POST /api/answer-passphrase`: sets the passphrase, or removes it without `next`. `current`: the one that is set. */
export const changePassphraseBody = record({ current: optional(passphrase), next: optional(passphrase) });
/** The reply to it, and `GET /api/answer-passphrase`. */
export const answerLockReply = record({ is_set: z.boolean() });
export type AnswerLockReply = z.infer<typeof answerLockReply>;
/** `POST /api/sessions/:id/requests/:request` → the current `{ outcome, answer? }`: the first answer wins. */
export const answerBody = record({
  /** Of an approval: the digest of the subject that was on screen. */
  digest: optional(z.string()),
  /** The `token` of an unlocked page, if a passphrase for answers is set. Without it, the answer is refused as `answer_locked`. */
  unlock_token: optional(z.string()),
  answer,
});
/**
 * `POST /api/sessions/:id/terminal-prompt` → `{}`: words for an agent in a terminal, whose row says `takes_prompts`. `message_id`: sent again, it is
 * delivered once.
 * `POST /api/sessions/:id/terminal-stop` with `{}` → `{}`: interrupts its turn.
 */
export const terminalPromptBody = record({ message_id: uuid, text: z.string().min(1).max(200_000) });
export const answerReply = record({ outcome: requestOutcome, answer: optional(answer) });
/** `GET /api/sessions/:id/open-requests`: what the `requests` of the session's row ask, whole. */
export const openRequestsReply = record({ requests: z.array(request) });
export type OpenRequestsReply = z.infer<typeof openRequestsReply>;
/**
 * An agent whose sessions in terminals can be answered here: `by` a hook in the settings `file`, over the socket `file` of the agent's
 * own server, or a plugin that is the `file`. `answers`: what can be answered: all requests, approvals, approvals before every command
 * (also those that need none), or nothing: then attaching only shows the state. `in_open_sessions`: open sessions are attached at
 * once; else sessions that are started afterwards. As `POST /api/attach/:agent/install` and `…/remove` reply. `diff`: what installing
 * or removing changes in `file`, as lines with a sign. `problem`: why it cannot be changed.
 */
export const attachment = record({
  agent: z.string(),
  name: z.string(),
  by: z.enum(["hook", "server", "plugin"]),
  answers: z.enum(["requests", "approvals", "commands", "none"]),
  in_open_sessions: z.boolean(),
  file: z.string(),
  is_installed: z.boolean(),
  diff: z.string(),
  problem: optional(z.string()),
});
export type Attachment = z.infer<typeof attachment>;
/** `GET /api/attach` */
export const attachReply = record({ agents: z.array(attachment) });
export type AttachReply = z.infer<typeof attachReply>;
/**
 * An agent whose session files are read. As `POST /api/sources/:agent` replies. `is_on`: a person may switch it off; it is then
 * neither listed, followed, indexed nor searched.
 */
export const agentSource = record({
  agent: z.string(),
  name: z.string(),
  is_on: z.boolean(),
  /** Where its sessions were looked for. */
  folders: z.array(record({ path: z.string(), exists: z.boolean() })),
  /** Sessions that are known, without the runs of sub-agents. */
  sessions: z.number(),
  /** When its folders were last scanned and read. Absent: not since the daemon started. */
  read_at: optional(z.number()),
  /** Folders and files that cannot be read; `remedy`: what to do. */
  problems: z.array(record({ path: z.string(), text: z.string(), remedy: optional(z.string()) })),
});
export type AgentSource = z.infer<typeof agentSource>;
/** `GET /api/sources` */
export const sourcesReply = record({ agents: z.array(agentSource) });
export type SourcesReply = z.infer<typeof sourcesReply>;
/** `POST /api/sources/:agent` → the agent as it is now. */
export const sourceBody = record({ is_on: z.boolean() });
/** `POST /api/push`: a browser's subscription (W3C Push API) and the events that it subscribes to. */
export const pushSubscriptionBody = record({
  endpoint: z.url({ protocol: /^https?$/ }).max(2_048),
  /** Base64url: the browser's public key (P-256, uncompressed) and its authentication secret. */
  keys: record({ p256dh: z.string().max(128), auth: z.string().max(64) }),
  of: z.enum(["waiting", "all"]),
  /** The first words of a message, in the page's language. */
  words: record({
    waiting: z.string().max(100),
    failed: z.string().max(100),
    unknown: z.string().max(100),
    finished: z.string().max(100),
  }),
});
export type PushSubscriptionBody = z.infer<typeof pushSubscriptionBody>;
/** `POST /api/push/remove` */
export const pushEndpointBody = record({ endpoint: z.string() });
/** `GET /api/push`. `public_key`: the key with which a browser subscribes, as base64url. */
export const pushReply = record({ public_key: z.string() });
export type PushReply = z.infer<typeof pushReply>;
/** What a push message contains. `public/push-worker.js` shows it. */
export interface PushMessage {
  kind: "waiting" | "failed" | "unknown" | "finished" | "rule";
  session_id: string;
  title: string;
  body: string;
  /** A later message with the same tag replaces this one. */
  tag: string;
}
/** Most bytes of files that are open without being stored, all together. */
export const OPENED_LIMIT = 256 * 1024 * 1024;
/** Most files that are opened together. */
export const MAX_OPENED_FILES = 10_000;
/** Of the line with which the body of `POST /api/opened-files` begins, in bytes. */
export const OPENED_HEAD_LIMIT = 4 * 1024 * 1024;
/** That line, as JSON; the bytes of the files follow, one after the other. `path`: relative, with `/`. */
export const openedFilesHead = record({
  files: z
    .array(record({ path: z.string().min(1).max(4_096), size: z.int().min(0), modified_at: z.number() }))
    .max(MAX_OPENED_FILES),
});
export type OpenedFilesHead = z.infer<typeof openedFilesHead>;
/**
 * The sessions of files that were opened together, newest first, as `GET /api/opened-files/:session` gives them again; `problems`:
 * files that could not be read.
 */
export const openedFilesReply = record({
  sessions: z.array(sessionSummary),
  problems: z.array(record({ path: z.string(), text: z.string() })),
});
export type OpenedFilesReply = z.infer<typeof openedFilesReply>;
/**
 * `GET /api/sessions/:id/changes?turn=` (from 1; absent: all turns): see `Ledger`. `turns`: of the session. `is_cut`: the diffs before
 * it are so long that this one is left out.
 */
export interface ChangesReply extends Ledger {
  files: readonly (LedgerFile & { is_cut?: boolean })[];
  turns: number;
}
/** Maximum number of parts of a page that are compared at once. */
export const MAX_VERIFIED_PARTS = 20_000;
const pageParts = record({
  /** The page's position in the session's channel. */
  epoch: z.string(),
  seq: z.number(),
  /** The digests (`partDigest`) of the parts that it holds, in ranges without gaps. */
  parts: z.array(record({ from: z.int().nonnegative(), digests: z.array(z.string().max(64)) })),
});
/** What a page holds of a session. */
export type PageParts = z.infer<typeof pageParts>;
/** `POST /api/sessions/:id/verify` → `VerifyReply` */
export const verifyBody = record({
  page: optional(
    // Pure, so that the page, which needs no schemas, is built without them.
    /* @__PURE__ */ pageParts.refine(
      ({ parts }) => parts.reduce((sum, { digests }) => sum + digests.length, 0) <= MAX_VERIFIED_PARTS,
      `at most ${MAX_VERIFIED_PARTS} parts can be compared`,
    ),
  ),
});
/** The digests are SHA-256 of the parts, in hex. */
export interface VerifyReply extends Verification {
  digest_shown: string;
  digest_reread: string;
  /** The comparison of the page's parts with the record. Absent: the request has none. */
  page?: {
    compared: number;
    /** Of the same parts in the record, as they are sent to pages (`sequenceDigest`). */
    digest: string;
    /** Frames that the page did not have yet. Absent: its epoch is over. */
    behind?: number;
    /** The first part that differs: `reread` is the whole part as `comparedText` has it. Absent: they are equal. */
    difference?: { index: number; part_id?: string; reread?: string; place?: string };
  };
}
/** A session's file and how much of it is read. */
export interface DiskState {
  /** Size of the file, and how much of it is in the transcript, in bytes. */
  bytes: number;
  bytes_read: number;
  /** When the file was written last, in milliseconds since 1970. */
  written_at: number;
  /** Milliseconds between the last write and its reading, or until now if it is not read yet. Absent: the file has not grown since the daemon started. */
  lag?: number;
}
/** `GET /api/sessions/:id/disk`: the lag of the transcript behind its record. */
export interface DiskReply {
  /** The newest frame. */
  epoch: string;
  seq: number;
  /** The daemon's clock, and the time of the newest record, in milliseconds since 1970. */
  now: number;
  newest_at: number;
  /** Absent: the session is not read from a file, or the file is gone. */
  disk?: DiskState;
}
/** `GET /api/sessions/:id/compare?with=`: from the first difference on. */
export type CompareReply = Comparison;
/** A session on the timeline of another one. `depth`: 0 for that one itself. `problem`: why it could not be read. */
export interface Lane {
  session_id: string;
  depth: number;
  /** Present if the lane is a phase of a workflow that `session_id` started: the lanes of its agents follow. */
  phase?: { title: string; session_ids: readonly string[] };
  bars: readonly LaneBar[];
  /** Later bars are left out: the reply would be too long. */
  is_cut?: boolean;
  problem?: string;
}
/** `GET /api/sessions/:id/lanes`: the session and its runs. `left_out`: runs without a lane. */
export interface LanesReply {
  lanes: readonly Lane[];
  left_out: number;
}
/** By what the usage of all sessions is grouped. */
export const USAGE_GROUPS = ["day", "project", "agent", "model"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** What the steps of a group took. */
export interface UsageRow {
  /** The day as `2026-09-16`, the folder, the agent's id, or the model; empty: not recorded. */
  key: string;
  /** As people call it. */
  name: string;
  /** Sessions and runs with steps in the group. */
  sessions: number;
  runs: number;
  steps: number;
  tool_calls: number;
  failed: number;
  /** Milliseconds in which models or tools were active, summed over the sessions. */
  active: number;
  /** Absent: no step has usage. */
  usage?: z.infer<typeof usage>;
  cost: CostFigures;
}
/** `GET /api/usage?by=&since=&zone=`. Days: the newest first; all else by tokens, most first. */
export interface UsageReply {
  rows: readonly UsageRow[];
  total: UsageRow;
  /** Sessions or files that the part index does not have yet, or not as they are now. */
  not_indexed: number;
  /** The day on which the list prices were read. */
  prices_checked: string;
}
/** `GET /api/sessions/:id/outline?turn=` (from 1). `time`: absent if the turn has no times. */
export interface OutlineReply extends TurnOutline {
  time?: TimeFigures;
}
/** `GET /api/sessions/:id/figures?turn=` (from 1; absent: all turns). `turns`: of the session. */
export interface FiguresReply extends Figures {
  turns: number;
  /** The day on which the list prices were read, as `2026-09-16`. */
  prices_checked: string;
  /** The costs of the session's runs at any depth, and their sum; `left_out`: runs without a figure. Absent for a turn. */
  runs?: {
    cost: CostFigures;
    priced: readonly { session_id: string; cost: CostFigures }[];
    left_out: number;
  };
}
/**
 * `GET /api/sessions/:id/context?call=|part=&find=`: what a model call (from 1), or the call that made a part, was given. `find` marks
 * the items that hold a text.
 */
export type ContextReply = CallContext;
/** `GET /api/sessions/:id/context/:call/items/:item`: the text of an item, from 0. */
export const contextItemReply = record({ text: z.string() });
export type ContextItemReply = z.infer<typeof contextItemReply>;
/** `POST /api/sessions/:id/fork` → 201 `{ session_id }`: a new session with all before that prompt, and, if given, a new prompt. */
export const forkBody = record({ session_id: uuid, before: uuid, prompt: optional(promptBody) });
/** `POST /api/sessions/:id/rewind` → `{}`: the session continues from before that prompt (the id of its part). Nothing is deleted. */
export const rewindBody = record({ before: uuid });

/** Every refusal: `{ error: { code, message, remedy? } }` with the status that fits. */
export const errorReply = record({
  error: record({ code: z.string(), message: z.string(), remedy: optional(z.string()) }),
});
export type ErrorReply = z.infer<typeof errorReply>;

// --- The socket: GET /api/live ----------------------------------------------------------------------------------------

/** In the socket's address: longer messages come in pieces, so that who waits for one hears of it. */
export const IN_PIECES = "pieces";
/** Ends a piece of a message that continues ("end of transmission block"). JSON never contains it. */
export const PIECE_MARK = "\x17";

/** Client to daemon. */
export const clientMessage = z.discriminatedUnion("type", [
  /** Without `epoch` and `after_seq`: a snapshot. */
  record({
    type: z.literal("subscribe"),
    channel: z.string(),
    epoch: optional(z.string()),
    after_seq: optional(z.number()),
    /** The `check` that the daemon sent for `after_seq`. With it a client resumes after a restart. */
    check: optional(z.string()),
  }),
  record({ type: z.literal("unsubscribe"), channel: z.string() }),
]);
export type ClientMessage = z.infer<typeof clientMessage>;

/** A frame on its channel: `seq` rises by one. */
export const channelFrame = record({ seq: z.number(), frame });
export type ChannelFrame = z.infer<typeof channelFrame>;

/** Daemon to client: one socket message. Frames of one channel within 16 ms after a message are joined. */
export const serverMessage = z.discriminatedUnion("type", [
  record({
    type: z.literal("frames"),
    channel: z.string(),
    epoch: z.string(),
    frames: z.array(channelFrame),
    /** A digest of all frames of the channel up to the last of these. */
    check: optional(z.string()),
    /** What changed of the live parts once the frames are applied: both belong together. */
    live: optional(liveChange),
  }),
  /** The state at `seq`. Replaces everything before. */
  record({
    type: z.literal("snapshot"),
    channel: z.string(),
    epoch: z.string(),
    seq: z.number(),
    reason: z.enum(["first", "epoch", "too_old", "too_slow", "rewritten"]),
    page: optional(sessionPage),
    sessions: optional(z.array(sessionSummary)),
    /** The session's live parts; absent: none. */
    live: optional(z.array(livePart)),
  }),
  /** Everything up to `seq` has been sent: live from here. */
  record({
    type: z.literal("synced"),
    channel: z.string(),
    epoch: z.string(),
    seq: z.number(),
    /** A digest of all frames of the channel up to `seq`. */
    check: optional(z.string()),
  }),
  /** The daemon has the same frames up to `seq` as the epoch `previous` had. They go on in `epoch`, without a snapshot. */
  record({
    type: z.literal("resumed"),
    channel: z.string(),
    previous: z.string(),
    epoch: z.string(),
    seq: z.number(),
  }),
  /** A row of the list changed (`sessions` channel). */
  record({
    type: z.literal("sessions"),
    channel: z.literal("sessions"),
    epoch: z.string(),
    seq: z.number(),
    changed: z.array(sessionSummary),
    removed: z.array(uuid),
  }),
  /** The positions of all subscribed channels, which reveal gaps. */
  record({
    type: z.literal("heartbeat"),
    at: z.number(),
    positions: z.record(z.string(), record({ epoch: z.string(), seq: z.number() })),
  }),
  record({
    type: z.literal("refused"),
    channel: optional(z.string()),
    code: z.string(),
    message: z.string(),
  }),
]);
export type ServerMessage = z.infer<typeof serverMessage>;
