import type { TranscriptPart } from "../model/transcript.ts";
import {
  CLIENT_HEADER,
  type ErrorReply,
  type LocateReply,
  type PartsReply,
  type RawReply,
  type SearchReply,
  type StatusReply,
} from "../protocol.ts";

/** Why a request has no value. `unauthorized`: this browser has no valid cookie. `offline`: no daemon answered. */
export type ApiFailure =
  | { code: "unauthorized" }
  | { code: "offline" }
  | { code: "refused"; status: number; message: string; remedy?: string };

export type ApiResult<Value> = { ok: true; value: Value } | { ok: false; failure: ApiFailure };

/** Every request that the page makes. Failures are values; an aborted request is `offline`. */
export interface Api {
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

/** One sentence for a person. */
export function failureText(failure: ApiFailure): string {
  switch (failure.code) {
    case "unauthorized":
      return "This browser is not signed in to Verbatim's daemon.";
    case "offline":
      return "The daemon does not answer.";
    case "refused":
      return failure.remedy === undefined ? failure.message : `${failure.message} ${failure.remedy}`;
  }
  return failure satisfies never;
}

async function refusal(response: Response): Promise<ApiFailure> {
  if (response.status === 401) return { code: "unauthorized" };
  const plain = {
    code: "refused",
    status: response.status,
    message: `The daemon answered ${response.status}.`,
  } as const;
  try {
    const body: unknown = await response.json();
    if (typeof body !== "object" || body === null || !("error" in body)) return plain;
    // Whoever answers in this shape is the daemon; each field is still checked below.
    const { message, remedy } = (body as ErrorReply).error ?? {};
    if (typeof message !== "string") return plain;
    return { ...plain, message, ...(typeof remedy === "string" ? { remedy } : {}) };
  } catch {
    return plain;
  }
}

export function createApi(base = ""): Api {
  const request = async <Value>(
    path: string,
    read: (response: Response) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<ApiResult<Value>> => {
    try {
      const response = await fetch(base + path, {
        headers: { [CLIENT_HEADER]: "1" },
        credentials: "same-origin",
        ...(signal === undefined ? {} : { signal }),
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
    request(path, (response) => response.json() as Promise<Value>, signal);
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
  };
}
