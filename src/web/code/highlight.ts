import { useEffect, useState } from "react";
import { t } from "../text/text.ts";
import { scriptUrl } from "../ui/script-url.ts";
import type { HighlightReply, HighlightRequest } from "./highlight-protocol.ts";
import workerUrl from "./highlight-worker.ts?worker&url";

/** Packed tokens of each line: pairs of length and kind. */
export type LineTokens = readonly number[];

interface Highlighted {
  /** Tokens in pages of `PAGE_LINES` lines. An unchanged page keeps its identity. */
  readonly pages: readonly (readonly LineTokens[])[];
  /** The reason why the rest stays plain, if it does. */
  readonly note?: string;
}

/** Lines per page: growing code changes only its last page. */
export const PAGE_LINES = 8;
/** Maximum number of highlighted lines in a block, which bounds the number of elements. */
const MAX_LINES = 1_200;
const MAX_TOTAL_TOKENS = 6_000;
const BATCH_LINES = 64;
const BATCH_LENGTH = 8_192;
/** Time to wait for the rest of a page of growing code, in milliseconds, so that most pages are highlighted only once. */
const PAGE_WAIT_MS = 100;
const LIMIT_MS = 1_000;
/** Time limit of the second attempt. On a busy machine, the first may time out although the code is not expensive. */
const SECOND_LIMIT_MS = 3_000;
const LOAD_LIMIT_MS = 15_000;
/** Delay between attempts to load the worker or a grammar while the daemon is unreachable, in milliseconds. */
const RETRY_MS = 2_000;
const NOTHING: Highlighted = { pages: [] };

interface Session {
  id: number;
  language: string;
  lines: readonly string[];
  /** Whether more lines will follow. */
  open: boolean;
  sent: number;
  /** When the first unsent line arrived, as `performance.now()`. */
  since: number;
  /** Whether the current worker has no state of this session yet. */
  first: boolean;
  tokens: LineTokens[][];
  count: number;
  /** Whether the session has exceeded the time limit once. */
  slow: boolean;
  listener: (highlighted: Highlighted) => void;
}

const sessions = new Map<number, Session>();
let nextId = 1;
let worker: Worker | undefined;
/** The session whose lines the worker is highlighting. */
let highlightingId: number | undefined;
/** Languages whose grammars the worker has loaded. Only to these does the normal time limit apply. */
const loaded = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;
/** Fires when the oldest lines that wait for the rest of their page are due. */
let pageTimer: ReturnType<typeof setTimeout> | undefined;

/** Aliases from fences and file name extensions, mapped to the highlighter's names. */
const ALIASES = new Map<string, string>(
  Object.entries({
    sh: "bash",
    shell: "bash",
    zsh: "bash",
    shellscript: "bash",
    console: "bash",
    "shell-session": "bash",
    fish: "bash",
    bats: "bash",
    ts: "typescript",
    mts: "typescript",
    cts: "typescript",
    js: "javascript",
    mjs: "javascript",
    cjs: "javascript",
    node: "javascript",
    py: "python",
    python3: "python",
    pyi: "python",
    rb: "ruby",
    rs: "rust",
    golang: "go",
    kt: "kotlin",
    kts: "kotlin",
    cs: "csharp",
    "c#": "csharp",
    "c++": "cpp",
    cc: "cpp",
    cxx: "cpp",
    hpp: "cpp",
    h: "c",
    hs: "haskell",
    ml: "ocaml",
    ex: "elixir",
    exs: "elixir",
    clj: "clojure",
    yml: "yaml",
    json5: "jsonc",
    jsonl: "json",
    ndjson: "json",
    webmanifest: "json",
    ipynb: "json",
    md: "markdown",
    mdx: "markdown",
    dockerfile: "docker",
    makefile: "make",
    mk: "make",
    tf: "hcl",
    terraform: "hcl",
    ps1: "powershell",
    pwsh: "powershell",
    patch: "diff",
    proto: "protobuf",
    htm: "html",
    svg: "xml",
    plist: "xml",
    conf: "ini",
    cfg: "ini",
    properties: "ini",
    gql: "graphql",
    tex: "latex",
    pl: "perl",
    psql: "sql",
    sqlite: "sql",
    sass: "scss",
    less: "scss",
  }),
);

/** The highlighter's name for the language of a fence or file extension. Unknown names are only converted to lower case. */
function languageName(given: string): string {
  const name = given.toLowerCase();
  return ALIASES.get(name) ?? name;
}

let address: string | undefined;

function send(request: HighlightRequest): void {
  worker?.postMessage(request);
}

/** Sessions with unpublished tokens, each with the reason why its rest stays plain, if any. */
const pendingUpdates = new Map<Session, string | undefined>();

/** Publishes in the next animation frame, together with growing text. Rendering separately for tokens would double the cost. */
function publish(session: Session, note?: string): void {
  if (pendingUpdates.size === 0) requestAnimationFrame(publishPending);
  pendingUpdates.set(session, note);
}

function publishPending(): void {
  const entries = [...pendingUpdates];
  pendingUpdates.clear();
  for (const [session, note] of entries)
    session.listener({ pages: [...session.tokens], ...(note === undefined ? {} : { note }) });
}

function drop(session: Session, note: string): void {
  sessions.delete(session.id);
  publish(session, note);
}

function restart(): void {
  worker?.terminate();
  worker = undefined;
  loaded.clear();
  highlightingId = undefined;
  for (const session of sessions.values()) forget(session);
}

function forget(session: Session): void {
  session.first = true;
  session.sent = 0;
  session.tokens = [];
  session.count = 0;
}

/** Gives the session a new id, so that replies about its former code are ignored. */
function replaceSession(session: Session): void {
  sessions.delete(session.id);
  send({ type: "end", session: session.id });
  session.id = nextId++;
  sessions.set(session.id, session);
  forget(session);
}

function retryLater(): void {
  clearTimeout(timer);
  restart();
  timer = setTimeout(next, RETRY_MS);
}

function onTimeLimit(): void {
  const expired = highlightingId === undefined ? undefined : sessions.get(highlightingId);
  if (expired && !loaded.has(expired.language)) {
    retryLater();
    return;
  }
  restart();
  if (expired?.slow) drop(expired, t.code.tooSlow);
  else if (expired) {
    expired.slow = true;
    // Queue it last, so that the others need not wait for it.
    sessions.delete(expired.id);
    sessions.set(expired.id, expired);
  }
  next();
}

/** Number of a session's lines that are due now. An incomplete page is due after `PAGE_WAIT_MS`. */
function dueLine({ lines, open, since }: Session, now: number): number {
  if (!open || now - since >= PAGE_WAIT_MS) return lines.length;
  return lines.length - (lines.length % PAGE_LINES);
}

function next(): void {
  if (highlightingId !== undefined) return;
  clearTimeout(pageTimer);
  const now = performance.now();
  let soonest = Number.POSITIVE_INFINITY;
  for (const session of sessions.values()) {
    if (session.sent >= session.lines.length) continue;
    const due = dueLine(session, now);
    if (session.sent >= due) {
      soonest = Math.min(soonest, session.since + PAGE_WAIT_MS);
      continue;
    }
    let end = session.sent;
    let length = 0;
    while (end < due && end - session.sent < BATCH_LINES && (length < BATCH_LENGTH || end === session.sent)) {
      length += session.lines[end]?.length ?? 0;
      end++;
    }
    if (!worker) {
      address ??= scriptUrl(workerUrl);
      worker = new Worker(address, { type: "module" });
      worker.onmessage = (event: MessageEvent<HighlightReply>) => receive(event.data);
      worker.onerror = retryLater;
    }
    const lines = session.lines.slice(session.sent, end);
    highlightingId = session.id;
    session.since = now;
    send({ type: "lines", session: session.id, language: session.language, first: session.first, lines });
    clearTimeout(timer);
    timer = setTimeout(onTimeLimit, loaded.has(session.language) ? limitOf(session) : LOAD_LIMIT_MS);
    return;
  }
  if (soonest < Number.POSITIVE_INFINITY) pageTimer = setTimeout(next, soonest - now);
}

const limitOf = (session: Session | undefined): number => (session?.slow ? SECOND_LIMIT_MS : LIMIT_MS);

function receive(reply: HighlightReply): void {
  const session = sessions.get(reply.session);
  switch (reply.type) {
    case "loaded":
      loaded.add(reply.language);
      if (highlightingId !== reply.session) return;
      clearTimeout(timer);
      timer = setTimeout(onTimeLimit, limitOf(session));
      return;
    case "tokens":
      clearTimeout(timer);
      highlightingId = undefined;
      if (session) {
        for (const line of reply.tokens) {
          const page = Math.floor(session.sent / PAGE_LINES);
          session.tokens[page] = [...(session.tokens[page] ?? []), line];
          session.count += line.length / 2;
          session.sent++;
        }
        session.first = false;
        if (session.count > MAX_TOTAL_TOKENS) drop(session, t.code.highlightedTo(session.sent));
        else publish(session);
      }
      next();
      return;
    case "unloaded":
      retryLater();
      return;
    case "failed":
      clearTimeout(timer);
      highlightingId = undefined;
      if (session) drop(session, "");
      next();
      return;
    default:
      reply satisfies never;
  }
}

function start(language: string, listener: (highlighted: Highlighted) => void): Session {
  const session: Session = {
    id: nextId++,
    language,
    lines: [],
    open: true,
    sent: 0,
    since: 0,
    first: true,
    tokens: [],
    count: 0,
    slow: false,
    listener,
  };
  sessions.set(session.id, session);
  return session;
}

/** Cache of completely highlighted blocks, newest last, for blocks that are scrolled back into view. */
const cache = new Map<string, Highlighted>();
const CACHE_SIZE = 200;

function remember(key: string, value: Highlighted): void {
  cache.set(key, value);
  const oldest = cache.keys().next();
  if (cache.size > CACHE_SIZE && !oldest.done) cache.delete(oldest.value);
}

/**
 * The tokens of code as they arrive from the worker. Each line is highlighted once, with the state of the line before. While
 * `open`, only complete lines are highlighted. Without workers (in a test or an old browser) the code stays plain.
 */
export function useHighlight(code: string, language: string, open: boolean): Highlighted {
  const name = languageName(language);
  const key = `${name}\0${code}`;
  const known = open ? undefined : cache.get(key);
  const [highlighted, setHighlighted] = useState<Highlighted>(known ?? NOTHING);
  const [session, setSession] = useState<Session>();
  const possible = name !== "" && typeof Worker !== "undefined";

  useEffect(() => {
    if (!possible || known) return;
    const created = start(name, setHighlighted);
    setSession(created);
    return () => {
      sessions.delete(created.id);
      send({ type: "end", session: created.id });
      setSession(undefined);
    };
    // Cached tokens need no session. A later change of `known` must not restart the session, so it is not a dependency.
  }, [name, possible]);

  useEffect(() => {
    if (!session || !sessions.has(session.id)) return;
    const lines = code.split("\n");
    if (open) lines.pop();
    const wanted = lines.slice(0, MAX_LINES);
    const continues =
      session.lines.length <= wanted.length && session.lines.every((line, index) => line === wanted[index]);
    if (!continues) replaceSession(session);
    if (session.sent >= session.lines.length) session.since = performance.now();
    session.lines = wanted;
    session.open = open;
    const listener = (value: Highlighted): void => {
      const all = !open && session.sent >= session.lines.length;
      const result =
        all && lines.length > MAX_LINES ? { ...value, note: t.code.highlightedTo(MAX_LINES) } : value;
      if (all || (!open && result.note)) remember(key, result);
      setHighlighted(result);
    };
    session.listener = listener;
    if (session.sent >= wanted.length && wanted.length > 0) publish(session);
    next();
  }, [session, code, open, key]);

  return possible ? highlighted : NOTHING;
}
