import {
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { flushSync } from "react-dom";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { isOpenedSession } from "../../../model/opened-session.ts";
import type { ReadStatePatch } from "../../../model/read-state.ts";
import { isWaiting, type SessionSummary } from "../../../model/session.ts";
import { positionOf } from "../../../model/transcript/accumulate.ts";
import { turnOfPart } from "../../../model/transcript/positions.ts";
import { apiOf } from "../../api/api.ts";
import { lostWords } from "../../app/ConnectionState.tsx";
import { HelpAndSettings } from "../../app/HelpAndSettings.tsx";
import { type KeyBinding, typing, useKeys } from "../../app/keys.ts";
import { type OpenSession, openSession } from "../../app/open-session.ts";
import { markRead } from "../../app/read-state.ts";
import { cameBack, keepWhenLeaving, NEW_SESSION, navigate, sessionHref } from "../../app/router.ts";
import { loadReading } from "../../app/scroll-position.ts";
import { sessionTitle } from "../../app/session-title.ts";
import { keepOpenedRows, useClient, useConnection, useRow, useSetting } from "../../app/store.ts";
import { usePageTitle, useWaitingKey } from "../../app/waiting.ts";
import { useStop } from "../../composer/use-stop.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";
import { newNoteKey } from "../../transcript/host.ts";
import { onDemand } from "../../ui/on-demand.tsx";
import type { FindStart } from "./Find.tsx";
import type { Inspected } from "./inspect/inspected.ts";
import { useSessionNotes } from "./notes/session-notes.ts";
import { Outline } from "./Outline.tsx";
import { MoreTools, type PaneTool, PaneTools } from "./PaneTools.tsx";
import { locateError } from "./problems.ts";
import { RunsPanel, useRuns } from "./runs/RunsPanel.tsx";
import { SessionFacts, SessionHeader } from "./SessionHeader.tsx";
import { answerKeys, scrollKeys } from "./session-keys.ts";
import { type ScrollerHandle, TranscriptScroller } from "./TranscriptScroller.tsx";
import { takeToWrite } from "./to-write.ts";
import { useAddressFollowed } from "./use-address.ts";
import { useFilter } from "./use-filter.ts";
import { useReadingHost } from "./use-host.ts";
import { useFocusBack, useFocusOnOpening } from "./use-pane-focus.ts";
import { useReadState } from "./use-read-state.ts";
import { WaitingBanner } from "./WaitingBanner.tsx";

const AgentDialog = onDemand(async () => (await import("./AgentDialog.tsx")).AgentDialog);
const Composer = onDemand(async () => (await import("../../composer/Composer.tsx")).Composer, {
  fallback: <section className="composer composer-loading" aria-busy="true" />,
});
const FilterBar = onDemand(async () => (await import("./FilterBar.tsx")).FilterBar);
const Find = onDemand(async () => (await import("./Find.tsx")).Find);
const GoOnDialog = onDemand(async () => (await import("./ForkDialog.tsx")).GoOnDialog);
const InspectDialog = onDemand(async () => (await import("./inspect/InspectDialog.tsx")).InspectDialog);
const LanesPanel = onDemand(async () => (await import("./lanes/LanesPanel.tsx")).LanesPanel);
const OpenRequests = onDemand(async () => (await import("../requests/OpenRequests.tsx")).OpenRequests);
const TerminalComposer = onDemand(
  async () => (await import("../requests/TerminalComposer.tsx")).TerminalComposer,
);

interface Props {
  session_id: string;
  /** What the address names in this session; empty in the pane beside. */
  fragment: string;
  /** Another number: what the fragment names is asked for again. */
  visit: number;
  /** The run shown beside this session. */
  beside: string | undefined;
  /** Texts to mark, from the address. */
  find: readonly string[];
  /** Set in the pane that is itself beside another session. */
  besideOf?: string;
}

const rowOf = (part_id: string): HTMLElement | null => document.getElementById(`part-${part_id}`);

/** The keyboard goes to where a key or a link led, unless one writes by the time it is there. */
function takeFocus(element: HTMLElement | null | undefined): void {
  if (!typing(document.activeElement)) element?.focus({ preventScroll: true });
}

function useMatch(query: string): boolean {
  const subscribe = useCallback(
    (changed: () => void) => {
      const list = matchMedia(query);
      list.addEventListener("change", changed);
      return () => list.removeEventListener("change", changed);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

/** One session: its header, its transcript, its turns and runs. Two of them stand side by side when a run is open beside. */
export function SessionPane(props: Props): ReactNode {
  const { session_id, besideOf } = props;
  const client = useClient();
  const connection = useConnection();
  const session = useMemo(() => openSession(client, session_id), [client, session_id]);
  useEffect(() => session.follow(), [session]);
  const ready = useStore(session.state, (state) => state.transcript !== undefined);
  const refused = useStore(session.state, (state) => state.refused);
  const isMissing = refused?.code === "no_channel";

  useFocusOnOpening({ isBeside: besideOf !== undefined, isReady: ready });
  // Right after its start the daemon has not found every file yet.
  const known = useRow(session_id) !== undefined;
  useEffect(() => {
    if (known && isMissing) session.retry();
  }, [known, isMissing, session]);

  const isOpened = isOpenedSession(session_id);
  useEffect(() => {
    if (!isOpened || known) return;
    const ended = new AbortController();
    void apiOf(client)
      .openedTogether(session_id, ended.signal)
      .then((reply) => {
        if (reply.ok && !ended.signal.aborted) keepOpenedRows(client, reply.value.sessions);
      });
    return () => ended.abort();
  }, [client, session_id, isOpened, known]);

  const missing = isOpened ? t.opened.gone : t.session.noSuch;
  const why = isMissing ? missing : t.session.broken;
  usePageTitle(!ready && refused && besideOf === undefined ? t.app.titled(why) : undefined);
  if (ready) return <ReadyPane key={session_id} {...props} session={session} />;
  const [title, text] = refused
    ? isMissing
      ? [why, isOpened ? t.opened.goneText : t.session.noSuchText]
      : [why, refused.message]
    : connection.status === "lost"
      ? lostWords(connection)
      : [t.session.reading, ""];
  const [Body, Heading] = besideOf === undefined ? (["main", "h1"] as const) : (["section", "h2"] as const);
  return (
    <Body className="blank" aria-busy={!refused} aria-label={besideOf && t.session.split}>
      <Heading>{title}</Heading>
      {text !== "" && <p>{text}</p>}
      <p>
        {besideOf === undefined ? (
          <a href="/">{t.common.allSessions}</a>
        ) : (
          <a href={sessionHref(besideOf)}>{t.common.close}</a>
        )}
      </p>
    </Body>
  );
}

/** How a session stands, before its name in the window's title. */
function titleState(row: SessionSummary): string {
  if (isWaiting(row)) return "[WAITING] ";
  return row.status === "running" ? "[RUNNING] " : row.status === "failed" ? "[FAILED] " : "";
}

function ReadyPane({
  session_id,
  fragment,
  visit,
  beside,
  find,
  besideOf,
  session,
}: Props & { session: OpenSession }): ReactNode {
  const client = useClient();
  const api = apiOf(client);
  const transcript = useStore(session.state, (state) => state.transcript);
  const summary = useStore(session.state, (state) => state.summary);
  const synced = useStore(session.state, (state) => state.synced);
  const failure = useStore(session.state, (state) => state.failure);
  const refused = useStore(session.state, (state) => state.refused);
  const row = useRow(session_id) ?? summary;
  const runs = useRuns(session_id);
  const main = besideOf === undefined;
  const control = row?.control;
  const working = control?.state === "working" || control?.state === "waiting";
  const stop = useStop(session_id, working, transcript?.turns.at(transcript.turns.length - 1)?.id);
  const composer = useRef<HTMLTextAreaElement>(null);
  const [goingOn, setGoingOn] = useState<string>();
  const [agentOpen, setAgentOpen] = useState(false);
  /** Absent: closed. */
  const [inspected, setInspected] = useState<Inspected>();
  const inspect = useCallback((what: Inspected) => setInspected(what), []);

  const [reading] = useState(() => loadReading(session_id));
  // One comes back to the place that was taken under this very address; a link goes to what it names, if it names a part.
  const resumes =
    reading.place !== undefined && (fragment === "" || (reading.fragment === fragment && cameBack()));
  const [initial] = useState(() =>
    resumes && reading.place !== undefined ? reading.place : { end: true as const },
  );
  const [resumed] = useState(resumes ? { marked: reading.marked } : undefined);
  const [target, setTarget] = useState(resumed?.marked);
  const notes = useSessionNotes(session_id);
  const { host, outputs, setOpen, setAllOpen, allOpen, keepPlace, placeNow } = useReadingHost(
    session,
    reading,
    { fragment, marked: target },
    {
      started_at: row?.started_at,
      cwd: row?.cwd,
      is_managed: control !== undefined,
      waiting: row !== undefined && isWaiting(row),
      goOnFrom: main && control?.can_fork === true ? setGoingOn : undefined,
      inspect,
      notes,
    },
  );
  const rowFilter = useFilter(session, host);
  /** What a link, a key or find leads to is not left hidden. */
  const showAll = useRef((_index: number): void => {});
  useEffect(() => {
    showAll.current = (index) => {
      if (rowFilter.rows?.hides(index, session.partAt(index)) === true) flushSync(rowFilter.close);
    };
  });
  const pane = useRef<HTMLDivElement>(null);
  const scroller = useRef<ScrollerHandle>(null);
  const findInput = useRef<HTMLInputElement>(null);
  const [finding, setFinding] = useState(false);
  const [findText, setFindText] = useState("");
  /** Find as the address opened it; `count`: another one is another opening. */
  const [findStart, setFindStart] = useState<{ start?: FindStart; count: number }>({ count: 0 });
  const [message, setMessage] = useState("");
  /** The row that a button led to, which keeps the keyboard. */
  const [landed, setLanded] = useState({ name: "", count: 0 });
  /** Where find was opened from, if one wrote there, and the row that it led to last. */
  const foundFrom = useRef<{ field: Element | null; row?: string | undefined }>({ field: null });
  const [current, setCurrent] = useState(() => {
    if (transcript === undefined) return 0;
    return Math.max(
      0,
      turnOfPart(transcript.turns, initial.end ? transcript.parts.length - 1 : initial.index),
    );
  });
  const [wide, setWide] = useSetting("outline");
  const [sheet, setSheet] = useState(false);
  const [lanes, setLanes] = useSetting("lanes");
  const [readAt] = useState(() =>
    createStore<{ readonly at: number | undefined }>(() => ({ at: undefined })),
  );
  // There turns and runs lie over the transcript, when asked for (session.css).
  const overlaid = useMatch("(max-width: 900px)") || beside !== undefined || !main;

  /**
   * Goes to a part by position, marks it and, if asked to, opens it; a paired result is in its call's card. The keyboard goes
   * along, unless it `stays`. Gives the part whose row that is.
   */
  const goTo = useCallback(
    async (index: number, open: boolean, stays = false): Promise<string | undefined> => {
      await session.load(index, index + 1);
      let at = index;
      let part = session.partAt(at);
      if (part?.type === "tool_result" && part.call_index !== undefined) {
        at = part.call_index;
        await session.load(at, at + 1);
        part = session.partAt(at);
      }
      showAll.current(at);
      if (part !== undefined) {
        const { id } = part;
        if (open) setOpen(id, true);
        // The scroller then finds it opened, in a group of markers as well.
        flushSync(() => setTarget(id));
      }
      scroller.current?.toPart(at, part?.type === "request" && part.outcome === undefined);
      if (part !== undefined && !stays) takeFocus(rowOf(part.id));
      return part?.id;
    },
    [session, setOpen],
  );

  const toTurn = useCallback(
    async (turn: number): Promise<void> => {
      scroller.current?.toTurn(turn);
      const { id, prompt_index } = session.state.getState().transcript?.turns.at(turn) ?? {};
      if (prompt_index !== undefined) await session.load(prompt_index, prompt_index + 1);
      // Its heading is made anew once its prompt is here.
      flushSync(() => {});
      takeFocus(document.getElementById(`turn-${id}`)?.closest("header"));
    },
    [session],
  );

  useAddressFollowed({
    session,
    scroller,
    fragment,
    find,
    visit,
    resumed,
    isMain: main,
    goTo,
    toTurn,
    onLeave() {
      setMessage("");
      setTarget(undefined);
    },
    onFind(start) {
      setFinding(true);
      setFindStart(({ count }) => ({ start, count: count + 1 }));
    },
    onMessage: setMessage,
  });
  useEffect(() => (main ? keepWhenLeaving(() => ({ place: placeNow() })) : undefined), [main, placeNow]);

  const state = row === undefined ? "" : titleState(row);
  usePageTitle(main && row !== undefined ? t.app.titled(`${state}${sessionTitle(row)}`) : undefined);

  const onPlace = useCallback(
    (place: Parameters<typeof keepPlace>[0], turn: number) => {
      keepPlace(place);
      // What was said of another place.
      setMessage("");
      setCurrent(Math.max(0, turn));
      const index = scroller.current?.here().index;
      readAt.setState({ at: index === undefined ? undefined : session.partAt(index)?.at });
    },
    [keepPlace, readAt, session],
  );

  const toEnd = useCallback(() => scroller.current?.toEnd(), []);
  const goTurn = (turn: number): void => {
    if (transcript === undefined || turn < 0 || turn >= transcript.turns.length) return;
    setSheet(false);
    setCurrent(turn);
    void toTurn(turn);
  };
  const stepTurn = (by: 1 | -1): void => {
    const here = scroller.current?.here();
    if (here === undefined) return;
    // Backwards from inside a turn leads to its own prompt first.
    goTurn(by === -1 && here.within ? here.turn : here.turn + by);
  };
  const stepError = async (by: 1 | -1, stays = false): Promise<void> => {
    const here = scroller.current?.here().index ?? 0;
    const marked =
      target === undefined || transcript === undefined ? undefined : positionOf(transcript, target);
    // From the failure that one stands on, even when it is not at the top of the view.
    const stands = marked !== undefined && scroller.current?.shows(marked);
    const from = stands ? marked + by : here - (by === 1 ? 0 : 1);
    const onwards = await locateError(session, api, from, by);
    const around_from = by === 1 ? 0 : (transcript?.parts.length ?? 0) - 1;
    const found = onwards ?? (await locateError(session, api, around_from, by));
    if (found === undefined) setMessage(t.session.noError);
    else {
      const around = by === 1 ? t.session.wrappedFirst : t.session.wrappedLast;
      const id = await goTo(found, false, stays);
      const name = stays && id !== undefined ? (rowOf(id)?.getAttribute("aria-label") ?? "") : "";
      setLanded(({ count }) => ({ name, count: count + 1 }));
      if (onwards === undefined) setMessage(found === marked ? t.session.onlyError : around);
    }
  };
  const focusComposer = (): void => void Composer.load().then(() => composer.current?.focus());
  const openFind = (): void => {
    const { activeElement } = document;
    if (!finding) {
      foundFrom.current = { field: typing(activeElement) ? activeElement : null };
      setFindStart(({ count }) => ({ count: count + 1 }));
    }
    setFinding(true);
    findInput.current?.focus();
    findInput.current?.select();
  };

  /** The model call of the row that is marked, else of the one at the top of the view. */
  const callHere = (): { part: string } | { call: number } => {
    const part = target ?? session.partAt(scroller.current?.here().index ?? 0)?.id;
    return part === undefined ? { call: 1 } : { part };
  };

  const noteHere = (): void => {
    const focused = document.activeElement?.closest<HTMLElement>("[id^=part-]");
    const inPane = focused !== null && focused !== undefined && pane.current?.contains(focused);
    const part_id = inPane
      ? focused.id.slice("part-".length)
      : (target ?? session.partAt(scroller.current?.here().index ?? 0)?.id);
    if (part_id === undefined) setMessage(t.notes.noPart);
    else notes?.begin(newNoteKey(part_id), "");
  };

  const { firstNew, isAbove } = useReadState(session, scroller);
  const mark = async (patch: ReadStatePatch): Promise<boolean> => {
    const kept = await markRead(client, session_id, patch);
    setMessage(kept ? "" : t.attention.notSaved);
    return kept;
  };

  const terminalRequests = (row?.requests ?? []).filter(({ in_terminal }) => in_terminal === true);
  const nextWaiting = useWaitingKey((found) => setMessage(found ? "" : t.waiting.none));
  const closeFind = (): void => {
    setFinding(false);
    // What the address wanted marked is not wanted any more, on a reload either.
    if (find.length > 0) navigate(sessionHref(session_id, fragment, beside), "replace");
    const { field, row } = foundFrom.current;
    const at = transcript && row !== undefined ? positionOf(transcript, row) : undefined;
    const found = row !== undefined && at !== undefined && scroller.current?.shows(at) ? rowOf(row) : null;
    if (field instanceof HTMLElement && field.isConnected) field.focus();
    else if (found !== null) found.focus({ preventScroll: true });
    else scroller.current?.focus();
  };

  const marks: KeyBinding[] = [
    { keys: ["f"], does: t.filter.key, run: rowFilter.open },
    {
      keys: ["v"],
      does: t.read.toFirst,
      run: () => (firstNew === undefined ? setMessage(t.read.nothingNew) : void goTo(firstNew, false)),
    },
    // Nothing is kept of an opened file, so it cannot be marked.
    ...(isOpenedSession(session_id)
      ? []
      : [
          {
            keys: ["m"],
            does: t.read.markUnread,
            run: () => void mark({ unread: true }).then((kept) => kept && navigate("/")),
          },
          {
            keys: ["P"],
            does: row?.pinned ? t.read.unpin : t.read.pin,
            run: () => void mark({ pinned: row?.pinned !== true }),
          },
          { keys: ["b"], does: t.notes.addKey, run: noteHere },
          { keys: ["B"], does: t.notes.key, run: () => inspect({ view: "notes" }) },
        ]),
  ];
  const bindings: KeyBinding[] = [
    { keys: ["/", "Ctrl+f"], does: t.find.name, run: openFind },
    ...scrollKeys(scroller),
    { keys: ["]", "n"], does: t.session.keys.nextPrompt, run: () => stepTurn(1) },
    { keys: ["[", "p"], does: t.session.keys.previousPrompt, run: () => stepTurn(-1) },
    { keys: ["e"], does: t.session.nextError, run: () => void stepError(1) },
    { keys: ["E"], does: t.session.keys.previousError, run: () => void stepError(-1) },
    {
      keys: ["x"],
      does: t.session.allKeys,
      run: () => changeAllOpen(),
    },
    { keys: ["d"], does: t.session.keys.changes, run: () => inspect({ view: "changes" }) },
    { keys: ["i"], does: t.session.keys.context, run: () => inspect({ view: "context", which: callHere() }) },
    { keys: ["F"], does: t.session.keys.figures, run: () => inspect({ view: "figures" }) },
    { keys: ["T"], does: t.session.keys.timeline, run: () => setLanes(!lanes) },
    { keys: ["C"], does: t.session.keys.compare, run: () => inspect({ view: "compare" }) },
    { keys: ["o"], does: t.session.outline, run: () => toggleSide() },
    {
      keys: ["u"],
      does: t.session.up,
      run: () =>
        navigate(
          row?.parent === undefined
            ? "/"
            : sessionHref(
                row.parent.session_id,
                row.parent.tool_call_id === undefined ? "" : `call-${row.parent.tool_call_id}`,
              ),
        ),
    },
    nextWaiting,
    ...(control !== undefined || terminalRequests.length > 0 ? answerKeys() : []),
    ...(control === undefined
      ? []
      : [
          // In the field itself, which looks at its keys before the page does; here they are only listed.
          ...(control.can_steer
            ? [
                {
                  keys: ["Alt+Enter"],
                  does: t.session.keys.steer,
                  keyOnly: true,
                  run: () => {},
                },
              ]
            : []),
          { keys: ["c"], does: t.composer.message, run: focusComposer },
          { keys: ["a"], does: t.session.agentSettings, run: () => setAgentOpen(true) },
        ]),
    { keys: ["s"], does: t.common.newSession, run: () => navigate(NEW_SESSION) },
    {
      keys: ["Escape"],
      keyOnly: true,
      does: working ? t.session.closeThenStop : t.session.closeKeys,
      run: () => {
        setMessage("");
        if (finding) closeFind();
        else if (sheet) {
          leaveSide();
          setSheet(false);
        } else if (target !== undefined) setTarget(undefined);
        else if (beside !== undefined) navigate(sessionHref(session_id, fragment, undefined, find));
        else if (besideOf !== undefined) navigate(sessionHref(besideOf));
        else stop.escape();
      },
    },
  ];
  useKeys([...bindings, ...marks], pane);
  useFocusBack(scroller, beside);
  useEffect(() => {
    // Not before the dialog has closed, which gives the focus back.
    if (goingOn === undefined && control !== undefined && takeToWrite(session_id)) focusComposer();
  });
  /** The keyboard is not left in what goes away. */
  const leaveSide = (): void => {
    if (document.activeElement?.closest(".side")) scroller.current?.focus();
  };
  const toggleSide = (): void => {
    leaveSide();
    if (overlaid) setSheet(!sheet);
    else setWide(!wide);
  };

  const changeAllOpen = (): void => setAllOpen(allOpen === undefined ? true : allOpen ? false : undefined);
  const allOpenWord =
    allOpen === undefined ? t.session.expandAll : allOpen ? t.session.collapseAll : t.session.reset;

  if (transcript === undefined || row === undefined) return null;
  const inMain = (room: "wide" | "roomy"): PaneTool["room"] => (main ? room : "more");
  const tools: PaneTool[] = [
    { name: t.find.button, room: "all", run: openFind, isOpen: finding },
    {
      name: t.filter.button,
      room: inMain("wide"),
      run: rowFilter.isOpen ? rowFilter.close : rowFilter.open,
      isOpen: rowFilter.isOpen,
    },
    {
      name: t.session.inspect,
      room: inMain("roomy"),
      run: () => inspect({ view: "changes", which: callHere() }),
      opensDialog: true,
    },
    ...(row.notes === undefined
      ? []
      : [
          {
            name: t.sessions.notes(row.notes.count),
            room: inMain("roomy"),
            run: () => inspect({ view: "notes" }),
            opensDialog: true,
          },
        ]),
    ...(main
      ? [{ name: t.session.timeline, room: "roomy" as const, run: () => setLanes(!lanes), isOpen: lanes }]
      : []),
    ...(control === undefined
      ? []
      : [
          {
            name: t.session.agent,
            room: "wide" as const,
            run: () => setAgentOpen(true),
            opensDialog: true,
          },
        ]),
    {
      name: t.session.nextError,
      room: "all",
      run: () => void stepError(1, true),
      isDisabled: row.errors === 0,
    },
    { name: allOpenWord, room: inMain("wide"), run: changeAllOpen },
    {
      name: t.session.turns,
      room: main ? "all" : "wide",
      run: toggleSide,
      isOpen: sheet || (wide && !overlaid),
      ...(runs.length > 0 && { detail: t.session.andRuns(runs.length) }),
    },
  ];
  const empty = transcript.parts.length === 0;
  const lastTurn = transcript.turns.at(transcript.turns.length - 1);
  const since = control !== undefined && lastTurn?.status === "running" ? lastTurn.started_at : undefined;
  // A page has one main part, and one banner, which a section's header is not.
  const [Pane, Body] = main ? (["div", "main"] as const) : (["section", "div"] as const);
  return (
    <Pane
      ref={pane}
      className={main ? "pane" : "pane pane-beside"}
      aria-label={main ? undefined : t.session.split}
    >
      <SessionHeader
        row={row}
        since={since}
        context={transcript.context}
        synced={synced || refused !== undefined}
        besideOf={besideOf}
      >
        <PaneTools tools={tools} />
        {besideOf !== undefined && (
          <>
            <a className="button" href={sessionHref(session_id)}>
              {t.session.openFull}
            </a>
            <a className="button" href={sessionHref(besideOf)}>
              {t.common.close}
            </a>
          </>
        )}
        <HelpAndSettings
          bindings={[...bindings, ...marks]}
          pane={pane}
          more={
            <>
              <SessionFacts row={row} context={transcript.context} />
              <MoreTools tools={tools} />
            </>
          }
        />
      </SessionHeader>
      {finding && (
        <Find
          key={findStart.count}
          start={findStart.start}
          session={session}
          scroller={scroller}
          input={findInput}
          opened={outputs.opened}
          onHit={async (index) => {
            const row = await goTo(index, true, true);
            foundFrom.current = { ...foundFrom.current, row };
            return row;
          }}
          onText={setFindText}
          onClose={closeFind}
        />
      )}
      {rowFilter.isOpen && (
        <FilterBar
          filter={rowFilter}
          onClose={() => {
            rowFilter.close();
            scroller.current?.focus();
          }}
        />
      )}
      {/* There before anything is said in it. */}
      <div role="status">
        {(message !== "" || failure !== undefined) && (
          <p className="notice notice-warning">
            {message !== ""
              ? message
              : failure === undefined
                ? ""
                : t.session.partsNotLoaded(failureText(failure))}
          </p>
        )}
      </div>
      {refused && (
        <p className="notice notice-warning" role="status">
          {refused.code === "no_channel" && isOpenedSession(session_id)
            ? t.opened.goneText
            : refused.code === "no_channel"
              ? t.session.noLonger
              : refused.message}{" "}
          {t.session.shownAsLoaded}
        </p>
      )}
      <p className="unseen" role="status">
        <span key={landed.count}>{landed.name}</span>
      </p>
      <WaitingBanner session_id={session_id} />
      {main && lanes && (
        <LanesPanel
          session_id={session_id}
          readAt={readAt}
          onPart={(part_id) => navigate(sessionHref(session_id, `part-${part_id}`, beside))}
          onClose={() => setLanes(false)}
        />
      )}
      <div className="pane-body">
        {(main || sheet) && (
          <aside
            className={`side${wide ? "" : " side-hidden"}${sheet ? " side-sheet" : ""}`}
            aria-label={t.session.outline}
          >
            <Outline transcript={transcript} current={current} isWaiting={isWaiting(row)} onGo={goTurn} />
            <RunsPanel session_id={session_id} beside={beside} />
          </aside>
        )}
        <Body className="pane-main">
          {empty && (
            <div className="blank">
              <h2>{t.session.nothingYet}</h2>
              <p>
                {row.status === "running"
                  ? t.session.begun
                  : control !== undefined
                    ? t.session.writeFirst
                    : t.session.endedEmpty}
              </p>
            </div>
          )}
          {firstNew !== undefined && isAbove && (
            <button type="button" className="above" onClick={() => void goTo(firstNew, false)}>
              {t.read.above}
            </button>
          )}
          <TranscriptScroller
            session={session}
            host={host}
            label={main ? t.session.transcript : t.session.transcriptOf(sessionTitle(row))}
            initial={initial}
            isWaiting={row?.requests !== undefined && row.requests.length > 0}
            targetPartId={target}
            search={findText}
            filter={rowFilter.rows}
            firstNew={firstNew}
            handle={scroller}
            onPlace={onPlace}
          />
          {control === undefined && (
            <OpenRequests row={row} open={terminalRequests} host={host} onMessage={setMessage} />
          )}
          {control === undefined && row.takes_prompts === true && <TerminalComposer row={row} />}
          {control !== undefined && (
            <Composer
              row={row}
              control={control}
              stop={stop}
              input={composer}
              session={session}
              onSend={toEnd}
            />
          )}
        </Body>
      </div>
      {goingOn !== undefined && (
        <GoOnDialog session={session} row={row} prompt_id={goingOn} onClose={() => setGoingOn(undefined)} />
      )}
      {inspected !== undefined && (
        <InspectDialog
          row={row}
          inspected={inspected}
          onChange={setInspected}
          onClose={() => setInspected(undefined)}
        />
      )}
      {agentOpen && control !== undefined && (
        <AgentDialog row={row} control={control} onClose={() => setAgentOpen(false)} />
      )}
    </Pane>
  );
}
