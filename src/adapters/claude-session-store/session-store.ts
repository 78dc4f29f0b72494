/** Identifies the transcript of a session or, with `subpath`, of one of its sub-agents. As defined by the Claude Agent SDK. */
export interface SessionKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

/** One line of a transcript. As defined by the Claude Agent SDK. */
export interface SessionStoreEntry {
  type: string;
  uuid?: string;
  timestamp?: string;
  [field: string]: unknown;
}

export interface VerbatimSessionStoreOptions {
  /** The daemon's URL: `http://127.0.0.1:4747`, or that of a proxy in front of it. */
  url: string;
  /** The daemon's token, as printed by `verbatim token`. */
  token: string;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

const AGENT = "claude-code";

/**
 * A `SessionStore` of the Claude Agent SDK (`query({ options: { sessionStore } })`) that stores transcripts in a Verbatim daemon,
 * which shows them live. All methods reject with an error that names the request and the daemon's reason. The SDK retries a
 * rejected `append`, and the daemon skips entries whose `uuid` it has.
 */
export class VerbatimSessionStore {
  private readonly options: VerbatimSessionStoreOptions;

  constructor(options: VerbatimSessionStoreOptions) {
    this.options = options;
  }

  /** Appends entries in order. Resolves once the daemon has flushed them to disk. */
  async append(key: SessionKey, entries: readonly SessionStoreEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const body = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    await this.request({ path: pathOf(key) }, { method: "POST", body });
  }

  /** Loads all entries of a transcript in order; `null`: nothing was appended yet. */
  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const response = await this.request({ path: pathOf(key) }, {}, [404]);
    if (response.status === 404) return null;
    const lines = (await response.text()).split("\n").filter((line) => line !== "");
    return lines.map((line): SessionStoreEntry => JSON.parse(line));
  }

  /** Lists the sessions of a project with the time of their last append, in milliseconds since 1970. */
  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const project = encode(projectKey);
    return (await this.list(project)).flatMap(({ path, modified_at }) => {
      const name = path.slice(project.length + 1);
      if (name.includes("/")) return [];
      return [{ sessionId: decode(name.slice(0, -EXTENSION.length)), mtime: modified_at }];
    });
  }

  /** Lists the `subpath` of each sub-agent's transcript in a session. */
  async listSubkeys({ projectKey, sessionId }: Omit<SessionKey, "subpath">): Promise<string[]> {
    const folder = `${encode(projectKey)}/${encode(sessionId)}`;
    return (await this.list(folder)).map(({ path }) =>
      path
        .slice(folder.length + 1, -EXTENSION.length)
        .split("/")
        .map(decode)
        .join("/"),
    );
  }

  private async list(folder: string): Promise<{ path: string; modified_at: number }[]> {
    const response = await this.request({ folder }, {});
    const { files }: { files: { path: string; modified_at: number }[] } = await response.json();
    return files;
  }

  private async request(
    query: Record<string, string>,
    init: RequestInit,
    expected: readonly number[] = [],
  ): Promise<Response> {
    const { url, token, fetch: send = fetch } = this.options;
    const target = new URL("/api/ingest/files", url);
    for (const [name, value] of Object.entries({ agent: AGENT, ...query }))
      target.searchParams.set(name, value);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" };
    const response = await send(target, { ...init, headers });
    if (response.ok || expected.includes(response.status)) return response;
    const reason = (await response.text()).slice(0, 500);
    throw new Error(`${init.method ?? "GET"} ${target.pathname} failed with ${response.status}: ${reason}`);
  }
}

const EXTENSION = ".jsonl";

/** The path of a transcript in Claude Code's layout: `<project>/<session>.jsonl` or `<project>/<session>/<subpath>.jsonl`. */
function pathOf({ projectKey, sessionId, subpath }: SessionKey): string {
  if (subpath === "") throw new Error("SessionKey.subpath is empty. Omit it for the main transcript.");
  const segments = [encode(projectKey), encode(sessionId), ...(subpath?.split("/").map(encode) ?? [])];
  return `${segments.join("/")}${EXTENSION}`;
}

/** Encodes a name so that every file system accepts it. Includes dots, because the daemon rejects a leading dot and `..`. */
const encode = (name: string): string =>
  encodeURIComponent(name).replace(
    /[.!'()*~]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const decode = (name: string): string => decodeURIComponent(name);
