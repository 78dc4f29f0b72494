import type { Answer, RequestOutcome } from "../model/request.ts";
import type { TranscriptPart } from "../model/transcript.ts";
import {
  type AgentsReply,
  CLIENT_HEADER,
  type ErrorReply,
  type LocateReply,
  type NewSessionBody,
  type PartsReply,
  type PromptBody,
  type RawReply,
  type SearchReply,
  type StatusReply,
} from "../protocol.ts";

/**
 * Why a request has no value. `unauthorized`: this browser has no valid cookie. `offline`: no daemon answered, so that what
 * was asked for may be done all the same.
 */
export type ApiFailure =
  | { code: "unauthorized" }
  | { code: "offline" }
  /** `reason`: the daemon's own code for it. */
  | { code: "refused"; status: number; reason?: string; message: string; remedy?: string };

export type ApiResult<Value> = { ok: true; value: Value } | { ok: false; failure: ApiFailure };

/** Every request that the page makes. Failures are values; an aborted request is `offline`. */
export interface Api extends SessionApi {
  status(): Promise<ApiResult<StatusReply>>;
  parts(session_id: string, from: number, to: number): Promise<ApiResult<PartsReply>>;
  locate(
    session_id: string,
    by: { part: string } | { turn: string } | { call: string },
  ): Promise<ApiResult<LocateReply>>;
  search(session_id: string, query: string, signal?: AbortSignal): Promise<ApiResult<SearchReply>>;
  whole(session_id: string, part_id: string): Promise<ApiResult<{ part: TranscriptPart }>>;
  raw(session_id: string, part_id: string): Promise<ApiResult<RawReply>>;
  /** The bytes of `attachment:<part id>:<n>`. */
  attachment(session_id: string, part_id: string, n: number): Promise<ApiResult<Blob>>;
}

/**
 * What changes something in the sessions that the daemon runs. Each carries an id of the page's making, so that it may be
 * sent again when its reply was lost.
 */
export interface SessionApi {
  agents(): Promise<ApiResult<AgentsReply>>;
  startSession(body: NewSessionBody): Promise<ApiResult<{ session_id: string }>>;
  sendPrompt(session_id: string, prompt: PromptBody, when: "queue" | "steer"): Promise<ApiResult<unknown>>;
  /** A prompt that waits for the end of the turn. */
  waitingPrompt(session_id: string, message_id: string): Promise<ApiResult<PromptBody>>;
  withdrawPrompt(session_id: string, message_id: string): Promise<ApiResult<unknown>>;
  stop(session_id: string): Promise<ApiResult<unknown>>;
  compact(session_id: string): Promise<ApiResult<unknown>>;
  setModel(session_id: string, model: string): Promise<ApiResult<unknown>>;
  /** How the request stands now: another browser may have been first. */
  answer(
    session_id: string,
    request_id: string,
    body: { digest?: string; answer: Answer },
  ): Promise<ApiResult<{ outcome: RequestOutcome; answer?: Answer }>>;
  /** `before`: the id of a prompt's part. */
  fork(
    session_id: string,
    body: { session_id: string; before: string },
  ): Promise<ApiResult<{ session_id: string }>>;
  rewind(session_id: string, before: string): Promise<ApiResult<unknown>>;
}

async function refusal(response: Response): Promise<ApiFailure> {
  const { status } = response;
  if (status === 401) return { code: "unauthorized" };
  const refused = { code: "refused", status, message: `The daemon answered ${status}.` } as const;
  // The daemon says in words of its own why it fails: this is a proxy that had no answer from it.
  const plain = status === 408 || status >= 500 ? ({ code: "offline" } as const) : refused;
  try {
    const body: unknown = await response.json();
    if (typeof body !== "object" || body === null || !("error" in body)) return plain;
    // Whoever answers in this shape is the daemon; each field is still checked below.
    const { code, message, remedy } = (body as ErrorReply).error ?? {};
    if (typeof message !== "string") return plain;
    return {
      ...refused,
      message,
      ...(typeof code === "string" ? { reason: code } : {}),
      ...(typeof remedy === "string" ? { remedy } : {}),
    };
  } catch {
    return plain;
  }
}

export function createApi(base = ""): Api {
  const request = async <Value>(
    path: string,
    read: (response: Response) => Promise<Value>,
    options: { signal?: AbortSignal | undefined; body?: unknown } = {},
  ): Promise<ApiResult<Value>> => {
    const { signal, body } = options;
    try {
      const response = await fetch(base + path, {
        headers: {
          [CLIENT_HEADER]: "1",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        credentials: "same-origin",
        ...(signal === undefined ? {} : { signal }),
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      });
      if (!response.ok) return { ok: false, failure: await refusal(response) };
      return { ok: true, value: await read(response) };
    } catch {
      // Nothing else throws here: no connection, or one cut in the middle of a reply.
      return { ok: false, failure: { code: "offline" } };
    }
  };
  // The daemon that served this page checks what it sends against protocol.ts; checking 200 parts again would cost more
  // than rendering them.
  const json = <Value>(path: string, signal?: AbortSignal) =>
    request(path, (response) => response.json() as Promise<Value>, { signal });
  const post = <Value>(path: string, body: unknown) =>
    request(path, (response) => response.json() as Promise<Value>, { body });
  const session = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;
  const part = (id: string, part_id: string) => `${session(id)}/parts/${encodeURIComponent(part_id)}`;

  return {
    status: () => json("/api/status"),
    parts: (id, from, to) => json(`${session(id)}/parts?from=${from}&to=${to}`),
    locate: (id, by) => json(`${session(id)}/locate?${new URLSearchParams(by)}`),
    search: (id, query, signal) => json(`${session(id)}/search?${new URLSearchParams({ q: query })}`, signal),
    whole: (id, part_id) => json(`${part(id, part_id)}/whole`),
    raw: (id, part_id) => json(`${part(id, part_id)}/raw`),
    attachment: (id, part_id, n) =>
      request(`${session(id)}/attachments/${encodeURIComponent(part_id)}/${n}`, (response) =>
        response.blob(),
      ),
    agents: () => json("/api/agents"),
    startSession: (body) => post("/api/sessions", body),
    sendPrompt: (id, prompt, when) => post(`${session(id)}/prompts`, { prompt, when }),
    waitingPrompt: (id, message_id) => json(`${session(id)}/prompts/${encodeURIComponent(message_id)}`),
    withdrawPrompt: (id, message_id) =>
      post(`${session(id)}/prompts/${encodeURIComponent(message_id)}/withdraw`, {}),
    stop: (id) => post(`${session(id)}/stop`, {}),
    compact: (id) => post(`${session(id)}/compact`, {}),
    setModel: (id, model) => post(`${session(id)}/model`, { model }),
    answer: (id, request_id, body) => post(`${session(id)}/requests/${encodeURIComponent(request_id)}`, body),
    fork: (id, body) => post(`${session(id)}/fork`, body),
    rewind: (id, before) => post(`${session(id)}/rewind`, { before }),
  };
}
