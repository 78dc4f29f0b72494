import type { NewNote, NoteChange } from "../../model/note.ts";
import type { ErrorList } from "../../model/parts/error-list.ts";
import type { MapMarks } from "../../model/parts/map-marks.ts";
import type { FilteredParts, PartFilter } from "../../model/parts/part-filter.ts";
import type { RowSettings } from "../../model/parts/quiet.ts";
import type { Answer, RequestOutcome } from "../../model/request.ts";
import type { RuleBody, RuleTrialBody } from "../../model/rules/rule.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type {
  AgentSource,
  AgentsReply,
  AnswerLockReply,
  Attachment,
  AttachReply,
  ChangesReply,
  CompareReply,
  ContextItemReply,
  ContextReply,
  DiskReply,
  FiguresReply,
  LanesReply,
  LocateReply,
  NewSessionBody,
  NoteReply,
  NotesReply,
  OpenedFilesReply,
  OpenPastBody,
  OpenRequestsReply,
  OutlineReply,
  PageParts,
  PartsReply,
  PastSessionsReply,
  PromptBody,
  PushReply,
  PushSubscriptionBody,
  RawReply,
  RuleReply,
  RulesReply,
  RuleTrialReply,
  SearchAllReply,
  SearchReply,
  SourcesReply,
  StopBody,
  UnlockReply,
  UsageGroup,
  UsageReply,
  VerifyReply,
} from "../../protocol.ts";
import { sendUnlocked, unlock } from "./answer-lock.ts";
import type { Ask } from "./ask.ts";
import { type ApiClient, abortedWhenLost } from "./in-flight-requests.ts";
import type { ApiResult, Requests } from "./requests.ts";

/** The requests of the screens. The session list needs none: it is a channel of the socket. */
export interface Api extends SessionApi {
  parts(session_id: string, from: number, to: number): Promise<ApiResult<PartsReply>>;
  locate(
    session_id: string,
    by: { part: string } | { turn: string } | { call: string } | { error: string; by: "1" | "-1" },
  ): Promise<ApiResult<LocateReply>>;
  search(session_id: string, query: string, signal?: AbortSignal): Promise<ApiResult<SearchReply>>;
  /** Which rows of a session a filter shows, given the user's settings. */
  filter(
    session_id: string,
    filter: PartFilter,
    settings: RowSettings,
    signal?: AbortSignal,
  ): Promise<ApiResult<FilteredParts>>;
  /** The usage of all sessions since a time, in milliseconds since 1970. Days are those of this browser's time zone. */
  usage(by: UsageGroup, since: number, signal?: AbortSignal): Promise<ApiResult<UsageReply>>;
  /** The positions of prompts, edits, runs, compactions and errors in a session. */
  map(session_id: string, signal?: AbortSignal): Promise<ApiResult<MapMarks>>;
  /** The outline of a turn (from 1). */
  outline(session_id: string, turn: number, signal?: AbortSignal): Promise<ApiResult<OutlineReply>>;
  errors(session_id: string, signal?: AbortSignal): Promise<ApiResult<ErrorList>>;
  /** Searches the parts of all sessions. `cursor`: `next` of the previous page. */
  searchAll(query: string, cursor?: string, signal?: AbortSignal): Promise<ApiResult<SearchAllReply>>;
  whole(session_id: string, part_id: string): Promise<ApiResult<{ part: TranscriptPart }>>;
  raw(session_id: string, part_id: string): Promise<ApiResult<RawReply>>;
  /** A piece of a call's complete output, if the output is in a file. */
  output(session_id: string, part_id: string, from: number): Promise<ApiResult<Blob>>;
  /** The bytes of `attachment:<part id>:<n>`. */
  attachment(session_id: string, part_id: string, n: number): Promise<ApiResult<Blob>>;
}

/**
 * Requests for managed sessions, the inspector and the settings. They can be retried if a reply was lost: they are idempotent, by
 * themselves or through an id that the page chose.
 */
interface SessionApi {
  agents(): Promise<ApiResult<AgentsReply>>;
  /**
   * Lists the sessions that an agent stores itself, which takes seconds. `cwd`: only sessions of this folder; `cursor`: `next` of
   * the previous page.
   */
  pastSessions(
    agent: string,
    by: { cwd?: string; cursor?: string },
    signal?: AbortSignal,
  ): Promise<ApiResult<PastSessionsReply>>;
  /** Opens a past session. Returns the managed session that continues it. */
  openPastSession(agent: string, body: OpenPastBody): Promise<ApiResult<{ session_id: string }>>;
  startSession(body: NewSessionBody): Promise<ApiResult<{ session_id: string }>>;
  sendPrompt(session_id: string, prompt: PromptBody, when: "queue" | "steer"): Promise<ApiResult<unknown>>;
  /** A prompt that is queued until the turn ends. */
  waitingPrompt(session_id: string, message_id: string): Promise<ApiResult<PromptBody>>;
  withdrawPrompt(session_id: string, message_id: string, withdrawal_id: string): Promise<ApiResult<unknown>>;
  /** Starts a queued prompt while the agent is idle. */
  beginPrompt(session_id: string, message_id: string): Promise<ApiResult<unknown>>;
  stop(session_id: string, body: StopBody): Promise<ApiResult<unknown>>;
  compact(session_id: string): Promise<ApiResult<unknown>>;
  setModel(session_id: string, model: string): Promise<ApiResult<unknown>>;
  /**
   * Answers a request. Returns its outcome: another browser may have answered first. Asks the user for the passphrase if needed.
   */
  answer(
    session_id: string,
    request_id: string,
    body: { digest?: string; answer: Answer },
  ): Promise<ApiResult<{ outcome: RequestOutcome; answer?: Answer }>>;
  /** Forks a session before a prompt. `before`: the id of the prompt's part. */
  fork(
    session_id: string,
    body: { session_id: string; before: string },
  ): Promise<ApiResult<{ session_id: string }>>;
  rewind(session_id: string, before: string): Promise<ApiResult<unknown>>;
  /** The changes of a turn (from 1) or of all turns. */
  changes(
    session_id: string,
    turn: number | undefined,
    signal?: AbortSignal,
  ): Promise<ApiResult<ChangesReply>>;
  /** The input of a model call, by its number (from 1) or by a part of its step. `find` marks items that contain a text. */
  context(
    session_id: string,
    which: { call: number } | { part: string },
    find: string,
    signal?: AbortSignal,
  ): Promise<ApiResult<ContextReply>>;
  /** The text of one item of a model call's input. `item`: its index, from 0. */
  contextItem(session_id: string, call: number, item: number): Promise<ApiResult<ContextItemReply>>;
  /** Time, tokens and cost of a turn (from 1) or of all turns. */
  figures(
    session_id: string,
    turn: number | undefined,
    signal?: AbortSignal,
  ): Promise<ApiResult<FiguresReply>>;
  /** Compares two sessions, starting at their first difference. */
  compare(session_id: string, other: string, signal?: AbortSignal): Promise<ApiResult<CompareReply>>;
  /** Reads the record again, and compares it with what is shown. */
  verify(
    session_id: string,
    body: { page?: PageParts },
    signal?: AbortSignal,
  ): Promise<ApiResult<VerifyReply>>;
  /** How far a session is behind its file. */
  disk(session_id: string, signal?: AbortSignal): Promise<ApiResult<DiskReply>>;
  /** A session and its runs on one timeline. */
  lanes(session_id: string, signal?: AbortSignal): Promise<ApiResult<LanesReply>>;
  /** The open requests of a session, not truncated. */
  openRequests(session_id: string, signal?: AbortSignal): Promise<ApiResult<OpenRequestsReply>>;
  answerTerminal(
    request_id: string,
    body: { digest?: string; answer: Answer },
  ): Promise<ApiResult<{ outcome: RequestOutcome; answer?: Answer }>>;
  /** Whether a passphrase is set for answers. */
  answerPassphrase(signal?: AbortSignal): Promise<ApiResult<AnswerLockReply>>;
  /** Sets the passphrase, or removes it without `next`. */
  changePassphrase(body: { current?: string; next?: string }): Promise<ApiResult<AnswerLockReply>>;
  /** Unlocks answering for this page until it is closed. */
  unlock(passphrase: string): Promise<ApiResult<UnlockReply>>;
  /** Sends a prompt to an agent in a terminal. */
  promptTerminal(
    session_id: string,
    prompt: { message_id: string; text: string },
  ): Promise<ApiResult<unknown>>;
  stopTerminal(session_id: string): Promise<ApiResult<unknown>>;
  notes(session_id: string): Promise<ApiResult<NotesReply>>;
  addNote(session_id: string, note: NewNote): Promise<ApiResult<NoteReply>>;
  changeNote(note_id: string, change: NoteChange): Promise<ApiResult<NoteReply>>;
  deleteNote(note_id: string): Promise<ApiResult<unknown>>;
  rules(signal?: AbortSignal): Promise<ApiResult<RulesReply>>;
  /** Adds or replaces a rule. */
  putRule(rule_id: string, body: RuleBody): Promise<ApiResult<RuleReply>>;
  deleteRule(rule_id: string): Promise<ApiResult<unknown>>;
  tryRule(body: RuleTrialBody): Promise<ApiResult<RuleTrialReply>>;
  attachments(signal?: AbortSignal): Promise<ApiResult<AttachReply>>;
  /** Opens files without storing them. `body`: in the format of `POST /api/opened-files`. */
  openFiles(body: Blob): Promise<ApiResult<OpenedFilesReply>>;
  /** All sessions in the files that were opened together with this one. */
  openedTogether(session_id: string, signal?: AbortSignal): Promise<ApiResult<OpenedFilesReply>>;
  /** The agents whose session files are read. */
  sources(signal?: AbortSignal): Promise<ApiResult<SourcesReply>>;
  changeSource(agent: string, is_on: boolean): Promise<ApiResult<AgentSource>>;
  pushKey(): Promise<ApiResult<PushReply>>;
  subscribePush(subscription: PushSubscriptionBody): Promise<ApiResult<unknown>>;
  unsubscribePush(endpoint: string): Promise<ApiResult<unknown>>;
  changeAttachment(agent: string, change: "install" | "remove"): Promise<ApiResult<Attachment>>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a flat table with one request of the daemon per entry
function createApi({ get, post, bytes }: Requests, { answer_lock }: ApiClient): Api {
  const session = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;
  const pastSessions = (agent: string) => `/api/agents/${encodeURIComponent(agent)}/past-sessions`;
  const part = (id: string, part_id: string) => `${session(id)}/parts/${encodeURIComponent(part_id)}`;

  return {
    parts: (id, from, to) => get(`${session(id)}/parts?from=${from}&to=${to}`),
    locate: (id, by) => get(`${session(id)}/locate?${new URLSearchParams(by)}`),
    search: (id, query, signal) => get(`${session(id)}/search?${new URLSearchParams({ q: query })}`, signal),
    filter(id, { kinds = [], tools = [], statuses = [] }, { showSteps, everyRecord }, signal) {
      const query = new URLSearchParams([
        ...kinds.map((kind) => ["kind", kind]),
        ...tools.map((tool) => ["tool", tool]),
        ...statuses.map((status) => ["status", status]),
        ...(showSteps ? [["steps", "1"]] : []),
        ...(everyRecord === true ? [["every", "1"]] : []),
      ]);
      return get(`${session(id)}/filter?${query}`, signal);
    },
    map: (id, signal) => get(`${session(id)}/map`, signal),
    outline: (id, turn, signal) => get(`${session(id)}/outline?turn=${turn}`, signal),
    errors: (id, signal) => get(`${session(id)}/errors`, signal),
    searchAll: (query, cursor, signal) =>
      get(
        `/api/search?${new URLSearchParams({ q: query, ...(cursor !== undefined && { cursor }) })}`,
        signal,
      ),
    whole: (id, part_id) => get(`${part(id, part_id)}/whole`),
    raw: (id, part_id) => get(`${part(id, part_id)}/raw`),
    output: (id, part_id, from) => bytes(`${part(id, part_id)}/output?from=${from}`),
    attachment: (id, part_id, n) => bytes(`${session(id)}/attachments/${encodeURIComponent(part_id)}/${n}`),
    agents: () => get("/api/agents"),
    pastSessions: (agent, by, signal) => get(`${pastSessions(agent)}?${new URLSearchParams(by)}`, signal),
    openPastSession: (agent, body) => post(pastSessions(agent), body),
    startSession: (body) => post("/api/sessions", body),
    sendPrompt: (id, prompt, when) => post(`${session(id)}/prompts`, { prompt, when }),
    waitingPrompt: (id, message_id) => get(`${session(id)}/prompts/${encodeURIComponent(message_id)}`),
    withdrawPrompt: (id, message_id, withdrawal_id) =>
      post(`${session(id)}/prompts/${encodeURIComponent(message_id)}/withdraw`, { withdrawal_id }),
    beginPrompt: (id, message_id) =>
      post(`${session(id)}/prompts/${encodeURIComponent(message_id)}/begin`, {}),
    stop: (id, body) => post(`${session(id)}/stop`, body),
    compact: (id) => post(`${session(id)}/compact`, {}),
    setModel: (id, model) => post(`${session(id)}/model`, { model }),
    answer: (id, request_id, body) =>
      sendUnlocked(answer_lock, { get }, (token) =>
        post(`${session(id)}/requests/${encodeURIComponent(request_id)}`, { ...body, ...token }),
      ),
    fork: (id, body) => post(`${session(id)}/fork`, body),
    rewind: (id, before) => post(`${session(id)}/rewind`, { before }),
    changes: (id, turn, signal) =>
      get(`${session(id)}/changes${turn === undefined ? "" : `?turn=${turn}`}`, signal),
    context(id, which, find, signal) {
      const query = new URLSearchParams({ ...(find !== "" && { find }) });
      for (const [name, value] of Object.entries(which)) query.set(name, String(value));
      return get(`${session(id)}/context?${query}`, signal);
    },
    contextItem: (id, call, item) => get(`${session(id)}/context/${call}/items/${item}`),
    figures: (id, turn, signal) =>
      get(`${session(id)}/figures${turn === undefined ? "" : `?turn=${turn}`}`, signal),
    compare: (id, other, signal) => get(`${session(id)}/compare?with=${encodeURIComponent(other)}`, signal),
    usage: (by, since, signal) => {
      const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
      return get(`/api/usage?${new URLSearchParams({ by, since: String(since), zone })}`, signal);
    },
    verify: (id, body, signal) => post(`${session(id)}/verify`, body, signal),
    disk: (id, signal) => get(`${session(id)}/disk`, signal),
    lanes: (id, signal) => get(`${session(id)}/lanes`, signal),
    openRequests: (id, signal) => get(`${session(id)}/open-requests`, signal),
    answerTerminal: (request_id, body) =>
      sendUnlocked(answer_lock, { get }, (token) =>
        post(`/api/terminal-requests/${encodeURIComponent(request_id)}`, { ...body, ...token }),
      ),
    answerPassphrase: (signal) => get("/api/answer-passphrase", signal),
    changePassphrase: (body) => post("/api/answer-passphrase", body),
    unlock: (passphrase) => unlock(answer_lock, { post }, passphrase),
    promptTerminal: (id, prompt) => post(`${session(id)}/terminal-prompt`, prompt),
    stopTerminal: (id) => post(`${session(id)}/terminal-stop`, {}),
    notes: (id) => get(`${session(id)}/notes`),
    addNote: (id, body) => post(`${session(id)}/notes`, body),
    changeNote: (note_id, body) => post(`/api/notes/${encodeURIComponent(note_id)}`, body),
    deleteNote: (note_id) => post(`/api/notes/${encodeURIComponent(note_id)}/delete`, {}),
    rules: (signal) => get("/api/rules", signal),
    putRule: (id, body) => post(`/api/rules/${encodeURIComponent(id)}`, body),
    deleteRule: (id) => post(`/api/rules/${encodeURIComponent(id)}/delete`, {}),
    tryRule: (body) => post("/api/rules/try", body),
    attachments: (signal) => get("/api/attach", signal),
    openFiles: (body) => post("/api/opened-files", body),
    openedTogether: (id, signal) => get(`/api/opened-files/${encodeURIComponent(id)}`, signal),
    sources: (signal) => get("/api/sources", signal),
    changeSource: (agent, is_on) => post(`/api/sources/${encodeURIComponent(agent)}`, { is_on }),
    pushKey: () => get("/api/push"),
    subscribePush: (subscription) => post("/api/push", subscription),
    unsubscribePush: (endpoint) => post("/api/push/remove", { endpoint }),
    changeAttachment: (agent, change) => post(`/api/attach/${encodeURIComponent(agent)}/${change}`, {}),
  };
}

const apis = new WeakMap<Ask, Api>();

/** Returns the same object for the same client. */
export function apiOf(client: ApiClient): Api {
  const api = apis.get(client.ask) ?? createApi(abortedWhenLost(client), client);
  apis.set(client.ask, api);
  return api;
}
