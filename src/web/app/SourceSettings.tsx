import { type ReactNode, useEffect, useRef, useState } from "react";
import type { AgentSource } from "../../protocol.ts";
import { apiOf } from "../api/api.ts";
import { noticeText, sentences } from "../text/daemon-text.ts";
import { failureText } from "../text/failure-text.ts";
import { ago } from "../text/format.ts";
import { t } from "../text/text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { useClient } from "./store.ts";

/** Polling interval, in milliseconds. */
const REFRESH_MS = 5_000;

/** Lists the agents whose session files are read, what was found for each, and a switch to turn each one off. */
export function SourceSettings(): ReactNode {
  const api = apiOf(useClient());
  const [agents, setAgents] = useState<readonly AgentSource[]>();
  /** Incremented with each change: replies to requests sent before it are ignored. */
  const changes = useRef(0);
  /** `loadProblem`: why the last request failed. `storeProblem`: why a change was not stored. */
  const [loadProblem, setLoadProblem] = useState<string>();
  const [storeProblem, setStoreProblem] = useState<string>();
  const problem = storeProblem ?? loadProblem;

  useEffect(() => {
    const ended = new AbortController();
    const load = async (): Promise<void> => {
      const before = changes.current;
      const reply = await api.sources(ended.signal);
      if (ended.signal.aborted || before !== changes.current) return;
      if (reply.ok) setAgents(reply.value.agents);
      setLoadProblem(reply.ok ? undefined : failureText(reply.failure));
    };
    void load();
    const timer = setInterval(load, REFRESH_MS);
    return () => {
      clearInterval(timer);
      ended.abort();
    };
  }, [api]);

  const put = (source: Pick<AgentSource, "agent" | "is_on">): void =>
    setAgents((before) => before?.map((one) => (one.agent === source.agent ? { ...one, ...source } : one)));
  const change = async (agent: string, is_on: boolean): Promise<void> => {
    changes.current += 1;
    setStoreProblem(undefined);
    // Shown immediately: a switch disabled during the request would lose the focus.
    put({ agent, is_on });
    const reply = await api.changeSource(agent, is_on);
    changes.current += 1;
    put(reply.ok ? reply.value : { agent, is_on: !is_on });
    if (!reply.ok) setStoreProblem(failureText(reply.failure));
  };

  // A source that is off was switched off by the user, who must be able to find its switch again.
  const isFound = ({ sessions, is_on, problems }: AgentSource) =>
    sessions > 0 || !is_on || problems.length > 0;
  const rows = (wanted: boolean): ReactNode =>
    agents
      ?.filter((source) => isFound(source) === wanted)
      .map((source) => <SourceRow key={source.agent} source={source} onChange={change} />);
  const missing = agents?.filter((source) => !isFound(source)).length ?? 0;
  return (
    <fieldset className="choice source-settings">
      <legend>{t.sources.heading}</legend>
      {agents === undefined && problem === undefined && <p className="dialog-note">{t.sources.loading}</p>}
      <ul>{rows(true)}</ul>
      {missing > 0 && (
        <details>
          <summary>{t.sources.notFound(missing)}</summary>
          <ul>{rows(false)}</ul>
        </details>
      )}
      {problem !== undefined && (
        <p className="request-problem" role="alert">
          {t.sources.failed(problem)}
        </p>
      )}
    </fieldset>
  );
}

function SourceRow({
  source,
  onChange,
}: {
  source: AgentSource;
  onChange(agent: string, is_on: boolean): Promise<void>;
}): ReactNode {
  const { agent, name, is_on, folders, sessions, read_at, problems } = source;
  const facts = [
    ...(sessions > 0 ? [t.count.sessions(sessions)] : []),
    ...(is_on ? [] : [t.sources.off]),
    ...(sessions > 0 && read_at !== undefined ? [t.sources.read(ago(read_at, Date.now()))] : []),
  ];
  return (
    <li>
      <div className="source-head">
        <label>
          <input
            type="checkbox"
            checked={is_on}
            onChange={(event) => void onChange(agent, event.target.checked)}
          />
          {name}
        </label>
        <span className="dialog-note">{facts.join(" · ")}</span>
      </div>
      <Folders folders={folders} />
      {problems.map((problem) => (
        <p key={problem.path} className="request-problem">
          {visible(problemText(problem), "prose")}
        </p>
      ))}
    </li>
  );
}

/** If more of an agent's folders are missing than this, their list is closed: some agents have 50 possible ones. */
const MAX_MISSING = 3;

function Folders({ folders }: Pick<AgentSource, "folders">): ReactNode {
  const isLong = folders.filter(({ exists }) => !exists).length > MAX_MISSING;
  const missing = folders.filter(({ exists }) => isLong && !exists);
  const row = ({ path, exists }: AgentSource["folders"][number]): ReactNode => (
    <p key={path} className="dialog-note source-folder">
      {visible(path, "name")}
      {!exists && !isLong && ` ${t.sources.noFolder}`}
    </p>
  );
  return (
    <>
      {folders.filter((folder) => !missing.includes(folder)).map(row)}
      {isLong && (
        <details>
          <summary className="dialog-note">{t.sources.missingFolders(missing.length)}</summary>
          {missing.map(row)}
        </details>
      )}
    </>
  );
}

function problemText(problem: AgentSource["problems"][number]): string {
  const { text, remedy } = noticeText(problem);
  return remedy === undefined ? text : sentences(text, remedy);
}
