import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { AgentsReply, PastSession } from "../../../protocol.ts";
import { sessionHref } from "../../app/router.ts";
import { ago, exactTime, shortPath } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { visible } from "../../ui/hidden-text.tsx";
import { useNow } from "../../ui/use-now.ts";
import { type PastSessions as Loaded, usePastSessions } from "./use-past-sessions.ts";

type Agent = AgentsReply["agents"][number];

/** Whether an agent may have past sessions of its own: only available ACP agents may. */
export const mayHavePast = ({ kind, unavailable }: Agent): boolean =>
  kind === "acp" && unavailable === undefined;

/**
 * Lists the past sessions of an ACP agent, to be read or continued. `cwd`: the folder by which the list can be filtered; may be
 * empty.
 */
export function PastSessions({
  agent: { id, title },
  cwd,
  onClose,
}: {
  agent: Agent;
  cwd: string;
  onClose(): void;
}): ReactNode {
  const [isFiltered, setFiltered] = useState(false);
  const past = usePastSessions(id, isFiltered ? cwd : undefined);
  const { reply, problem } = past;
  return (
    <Dialog title={t.past.titleOf(title)} className="past-dialog" onClose={onClose}>
      {cwd !== "" && (
        <label className="past-filter">
          <input
            type="checkbox"
            checked={isFiltered}
            onChange={(event) => setFiltered(event.target.checked)}
          />
          {t.past.onlyIn(shortPath(cwd))}
        </label>
      )}
      {reply?.opens === "no" && <p className="dialog-note">{t.past.cannotOpen(title)}</p>}
      {reply?.opens === "without_history" && <p className="dialog-note">{t.past.noHistory(title)}</p>}
      {reply !== undefined && reply.sessions.length > 0 && <PastList past={past} reply={reply} />}
      <p className="dialog-note" role="status">
        {statusOf(past, title, isFiltered)}
      </p>
      {problem !== undefined && (
        <p className="dialog-problem past-problem" role="alert">
          {problem.text}{" "}
          {reply === undefined && !problem.isFinal && (
            <button type="button" className="button" onClick={past.load}>
              {t.common.tryAgain}
            </button>
          )}
        </p>
      )}
      {reply?.next !== undefined && !past.isLoading && (
        <p>
          <button type="button" className="button" onClick={past.load}>
            {t.past.more}
          </button>
        </p>
      )}
    </Dialog>
  );
}

function statusOf({ reply, isLoading, opening }: Loaded, agent: string, isFiltered: boolean): string {
  if (isLoading) return reply === undefined ? t.past.loading(agent) : t.past.loadingMore;
  if (opening !== undefined) {
    const session = reply?.sessions.find(({ id }) => id === opening);
    return t.past.opening(session?.title ?? t.past.untitled);
  }
  if (reply?.sessions.length !== 0) return "";
  return isFiltered ? t.past.noneHere(agent) : t.past.none(agent);
}

/** The list of past sessions. Arrow keys move between them. */
function PastList({
  past,
  reply: { sessions, opens },
}: {
  past: Loaded;
  reply: NonNullable<Loaded["reply"]>;
}): ReactNode {
  const list = useRef<HTMLUListElement>(null);
  const now = useNow(60_000);
  useEffect(() => {
    const dialog = list.current?.closest("dialog");
    // Do not take the focus if the user has moved it meanwhile.
    if (document.activeElement === dialog) list.current?.querySelector("button")?.focus();
  }, []);
  const press = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const at = buttons.findIndex((button) => button.closest("li")?.contains(document.activeElement) === true);
    const next = buttons[at + by];
    if (by === 0 || next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <ul ref={list} className="past-list" aria-label={t.past.title} onKeyDown={press}>
      {sessions.map((session) => (
        <PastRow
          key={session.id}
          session={session}
          now={now}
          canOpen={opens !== "no" || session.opened_as !== undefined}
          isBusy={past.opening !== undefined}
          onOpen={() => past.open(session)}
        />
      ))}
    </ul>
  );
}

function PastRow({
  session,
  now,
  canOpen,
  isBusy,
  onOpen,
}: {
  session: PastSession;
  now: number;
  canOpen: boolean;
  isBusy: boolean;
  onOpen(): void;
}): ReactNode {
  const { cwd, updated_at, opened_as, read_as, is_open } = session;
  const title = session.title ?? t.past.untitled;
  const about = useId();
  const isDisabled = is_open === true || isBusy;
  return (
    <li className="past-row">
      <div className="past-facts">
        <span className="past-title">{visible(title, "prose")}</span>
        <span className="past-about" id={about}>
          <span title={cwd}>{visible(shortPath(cwd), "name")}</span>
          {updated_at !== undefined && (
            <time dateTime={new Date(updated_at).toISOString()} title={exactTime(updated_at)}>
              {` · ${ago(updated_at, now)}`}
            </time>
          )}
          {opened_as !== undefined && ` · ${t.past.openedBefore}`}
          {is_open === true && ` · ${t.past.openElsewhere}`}
        </span>
      </div>
      {read_as !== undefined && (
        <a className="button" href={sessionHref(read_as)} aria-label={t.past.readOf(title)}>
          {t.past.read}
        </a>
      )}
      {canOpen && (
        // Not disabled but `aria-disabled`, so that it can be focused and screen readers read the reason.
        <button
          type="button"
          className="button"
          aria-label={t.past.openOf(title)}
          aria-describedby={about}
          aria-disabled={isDisabled || undefined}
          onClick={isDisabled ? undefined : onOpen}
        >
          {t.past.open}
        </button>
      )}
    </li>
  );
}
