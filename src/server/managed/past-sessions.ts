import { PastSessionsFailure } from "../../agent/acp/past-sessions.ts";
import type { Frame } from "../../model/frames/frame.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { OpenPastBody, PastSessionsReply } from "../../protocol.ts";
import { Refused } from "../sessions/refused.ts";
import type { AgentKind } from "./agents.ts";
import { configOf, type ManagedSession, withAgentSession } from "./managed-session.ts";

/** What is known here about a session that an agent stores. */
export interface KnownSession {
  /** The session that is read from the agent's files. */
  read_as?: string;
  /** Another process has it open. */
  is_open?: true;
}

interface PastSessionsOptions {
  entries: ReadonlyMap<string, ManagedSession>;
  /** The agent with this id. Throws `Refused` if it cannot be used. */
  available(agent: string): AgentKind;
  /** What is known about sessions, by the agent's ids. */
  findSessions(ids: readonly string[]): Promise<ReadonlyMap<string, KnownSession>>;
  /**
   * Creates a session with a history. Resolves once it is on disk, and rejects with `Refused` if it cannot be stored or its id is
   * taken.
   */
  begin(session_id: string, body: { agent: string } & OpenPastBody, frames: readonly Frame[]): Promise<void>;
}

/** The sessions that external agents store themselves. The methods reject with `Refused`. */
export interface PastSessions {
  /**
   * Lists a page of sessions. `cwd`: only those in this folder; `cursor`: `next` of the previous page. Aborting ends the agent's
   * program.
   */
  list(
    agent: string,
    options: { cwd?: string | undefined; cursor?: string | undefined },
    signal: AbortSignal,
  ): Promise<PastSessionsReply>;
  /** Opens one as a managed session and resolves with its id, or with that of the managed session that already continues it. */
  open(agent: string, body: OpenPastBody): Promise<string>;
  /** Ends the programs that were started. */
  close(): void;
}

export function createPastSessions({
  entries,
  available,
  findSessions,
  begin,
}: PastSessionsOptions): PastSessions {
  const closing = new AbortController();
  /** Sessions that are being opened, by agent and id. */
  const opening = new Map<string, Promise<string>>();

  function pastOf(agent: string): NonNullable<AgentKind["past"]> {
    const { past, entry } = available(agent);
    if (past) return past;
    throw new Refused(409, "no_list", daemonText("no_past_sessions", { agent: entry.title }));
  }

  /** The managed session that continues an agent's session. */
  const continuing = (id: string, agent: string) =>
    withAgentSession(entries, id).find((entry) => configOf(entry).agent === agent);

  /** Whether the same program, configured under another id, has the session open in this daemon. */
  const isOpenHere = (id: string) =>
    withAgentSession(entries, id).some(({ host }) => host?.has_agent === true);

  async function openNew(
    agent: string,
    past: NonNullable<AgentKind["past"]>,
    body: OpenPastBody,
  ): Promise<string> {
    const { id, cwd, session_id } = body;
    const { is_open, read_as } = (await findSessions([id])).get(id) ?? {};
    if (is_open || isOpenHere(id)) {
      throw new Refused(
        409,
        "open_elsewhere",
        daemonText("open_elsewhere", { id }),
        daemonText("close_there"),
      );
    }
    const frames = await orGone(
      past.read({ id, cwd, session_id, is_inherited: read_as !== undefined }, closing.signal),
    );
    await begin(session_id, { ...body, agent }, frames);
    return session_id;
  }

  return {
    async list(agent, options, signal) {
      const past = pastOf(agent);
      const page = await orGone(past.list(options, AbortSignal.any([signal, closing.signal])));
      const known = await findSessions(page.sessions.map(({ id }) => id));
      const sessions = page.sessions.map((session) => {
        const { id } = session;
        const opened_as = continuing(id, agent)?.id;
        const { read_as, is_open } = known.get(id) ?? {};
        return {
          ...session,
          ...(opened_as !== undefined && { opened_as }),
          ...(read_as !== undefined && { read_as }),
          ...(opened_as === undefined && (is_open || isOpenHere(id)) && { is_open: true }),
        };
      });
      return { ...page, sessions };
    },
    async open(agent, body) {
      const past = pastOf(agent);
      const { id } = body;
      const opened_as = continuing(id, agent)?.id;
      if (opened_as !== undefined) return opened_as;
      const key = JSON.stringify([agent, id]);
      const before = opening.get(key);
      if (before) return await before;
      const opened = openNew(agent, past, body).finally(() => opening.delete(key));
      opening.set(key, opened);
      return await opened;
    },
    close: () => closing.abort(),
  };
}

async function orGone<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof PastSessionsFailure) throw new Refused(409, error.code, error.title);
    throw error;
  }
}
