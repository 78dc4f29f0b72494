import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { isOpenedSession } from "../../../model/opened-session.ts";
import { isWaiting, type SessionSummary } from "../../../model/session.ts";
import { type SessionState, sessionState } from "../../../model/session-state.ts";
import { turnOfPart } from "../../../model/transcript/positions.ts";
import { HelpAndSettings } from "../../app/HelpAndSettings.tsx";
import { useKeys } from "../../app/keys.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { markRead } from "../../app/read-state.ts";
import { cameBack, keepWhenLeaving, navigate, sessionHref } from "../../app/router.ts";
import { loadReading } from "../../app/scroll-position.ts";
import { sessionTitle } from "../../app/session-title.ts";
import { useClient, useRow, useSetting } from "../../app/store.ts";
import { useIsWaiting, usePageTitle, useWaitingKey } from "../../app/waiting.ts";
import { useStop } from "../../composer/use-stop.ts";
import { t } from "../../text/text.ts";
import { newNoteKey } from "../../transcript/host.ts";
import type { Inspected } from "./inspect/inspected.ts";
import { useSessionNotes } from "./notes/session-notes.ts";
import type { PartsInView } from "./OutlineMap.tsx";
import { PaneNotices } from "./PaneNotices.tsx";
import { PaneSide } from "./PaneSide.tsx";
import { MoreTools, PaneTools } from "./PaneTools.tsx";
import { type PaneActions, paneKeys } from "./pane-keys.ts";
import {
  AgentDialog,
  Composer,
  FilterBar,
  Find,
  GoOnDialog,
  Inspector,
  LanesPanel,
  OpenRequests,
  TerminalComposer,
} from "./pane-parts.tsx";
import type { PaneProps } from "./pane-props.ts";
import { paneTools } from "./pane-tools.ts";
import { useRuns } from "./runs/RunsPanel.tsx";
import { SessionFacts, SessionHeader } from "./SessionHeader.tsx";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";
import { TranscriptScroller } from "./TranscriptScroller.tsx";
import { takeToWrite } from "./to-write.ts";
import { useAddressFollowed } from "./use-address.ts";
import { useFilter } from "./use-filter.ts";
import { useReadingHost } from "./use-host.ts";
import { useMatch } from "./use-match.ts";
import { useNavigation } from "./use-navigation.ts";
import { usePaneFind } from "./use-pane-find.ts";
import { useFocusBack } from "./use-pane-focus.ts";
import { useReadState } from "./use-read-state.ts";
import { useSide } from "./use-side.ts";
import { useTurnOutline } from "./use-turn-outline.ts";
import { WaitingBanner } from "./WaitingBanner.tsx";

/** States that are shown before a session's name in the window's title. */
const TITLE_STATES: Partial<Record<SessionState, string>> = {
  waiting: "[WAITING] ",
  working: "[RUNNING] ",
  failed: "[FAILED] ",
};

/** The pane of a session whose transcript is loaded. Connects the parts of the pane, each of which has its own file. */
export function ReadyPane({ session, ...props }: PaneProps & { session: OpenSession }): ReactNode {
  const { session_id, fragment, visit, beside, find, besideOf } = props;
  const client = useClient();
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
  // Restore the position of a former visit to this address. A link that names a part navigates to it.
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
  const pane = useRef<HTMLDivElement>(null);
  const scroller = useRef<ScrollerHandle>(null);
  const finder = usePaneFind(props, scroller, transcript);
  const [message, setMessage] = useState("");
  const [current, setCurrent] = useState(() => {
    if (transcript === undefined) return 0;
    return Math.max(
      0,
      turnOfPart(transcript.turns, initial.end ? transcript.parts.length - 1 : initial.index),
    );
  });
  const side = useSide({ main, beside }, scroller);
  const [lanes, setLanes] = useSetting("lanes");
  const [readAt] = useState(() =>
    createStore<{ readonly at: number | undefined }>(() => ({ at: undefined })),
  );
  const [inView] = useState(() => createStore<PartsInView>(() => ({ from: -1, to: -1 })));
  const onView = useCallback(
    (from: number, to: number) => {
      const before = inView.getState();
      if (before.from !== from || before.to !== to) inView.setState({ from, to });
    },
    [inView],
  );

  const { goTo, toTurn, stepError, toEnding, hasFailedRuns, landed } = useNavigation({
    session,
    scroller,
    rowFilter,
    target,
    setTarget,
    setOpen,
    setMessage,
    openBeside: main ? (run_id) => navigate(sessionHref(session_id, "", run_id)) : undefined,
  });

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
    onFind: finder.openAt,
    onMessage: setMessage,
  });
  useEffect(() => (main ? keepWhenLeaving(() => ({ place: placeNow() })) : undefined), [main, placeNow]);

  const waits = useIsWaiting(row);
  usePageTitle(
    main && row !== undefined
      ? t.app.titled(`${TITLE_STATES[sessionState(row, waits)] ?? ""}${sessionTitle(row)}`)
      : undefined,
  );

  const onPlace = useCallback(
    (place: Parameters<typeof keepPlace>[0], turn: number) => {
      keepPlace(place);
      // Messages about another position.
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
    side.closeSheet();
    setCurrent(turn);
    void toTurn(turn);
  };
  const stepTurn = (by: 1 | -1): void => {
    const here = scroller.current?.here();
    if (here === undefined) return;
    // Backwards from inside a turn leads to its own prompt first.
    goTurn(by === -1 && here.within ? here.turn : here.turn + by);
  };
  // The same width as in session.css.
  const isInspectorDocked = useMatch("(min-width: 1680px)") && main && beside === undefined;
  const closeInspector = (): void => {
    setInspected(undefined);
    if (isInspectorDocked) scroller.current?.focus();
  };
  const outline = useTurnOutline(session, current, side.isBeside || side.isSheet);
  const stepOutline = (by: 1 | -1): void => {
    const here = scroller.current?.here().index ?? 0;
    const entry =
      by === 1
        ? outline?.entries.find(({ index }) => index > here)
        : outline?.entries.findLast(({ index }) => index < here);
    if (entry === undefined) stepTurn(by);
    else scroller.current?.toPart(entry.index);
  };
  const focusComposer = (): void => void Composer.load().then(() => composer.current?.focus());

  const { firstNew, isAbove } = useReadState(session, scroller);
  const terminalRequests = (row?.requests ?? []).filter(({ in_terminal }) => in_terminal === true);
  const nextWaiting = useWaitingKey((found) => setMessage(found ? "" : t.waiting.none));
  const actions: PaneActions = {
    session_id,
    row,
    scroller,
    find: finder,
    filter: rowFilter,
    firstNew,
    hasRequests: terminalRequests.length > 0,
    nextWaiting,
    isTimelineOpen: lanes,
    goTo,
    stepTurn,
    stepOutline: outline === undefined ? undefined : stepOutline,
    stepError,
    toEnding,
    changeAllOpen: () => setAllOpen(allOpen === undefined ? true : allOpen ? false : undefined),
    inspect,
    writeNote() {
      const focused = document.activeElement?.closest<HTMLElement>("[id^=part-]");
      const inPane = focused !== null && focused !== undefined && pane.current?.contains(focused);
      const part_id = inPane
        ? focused.id.slice("part-".length)
        : (target ?? session.partAt(scroller.current?.here().index ?? 0)?.id);
      if (part_id === undefined) setMessage(t.notes.noPart);
      else notes?.begin(newNoteKey(part_id), "");
    },
    callHere() {
      const last = (transcript?.parts.length ?? 0) - 1;
      const isAtEnd = scroller.current?.lastInView() === last;
      const part = target ?? session.partAt(isAtEnd ? last : (scroller.current?.here().index ?? 0))?.id;
      return part === undefined ? { call: 1 } : { part };
    },
    toggleTimeline: () => setLanes(!lanes),
    toggleSide: side.toggle,
    focusComposer,
    openAgent: () => setAgentOpen(true),
    async mark(patch) {
      const kept = await markRead(client, session_id, patch);
      setMessage(kept ? "" : t.attention.notSaved);
      return kept;
    },
    setMessage,
    escape: {
      does: working ? t.session.closeThenStop : t.session.closeKeys,
      run() {
        setMessage("");
        if (finder.isOpen) finder.close();
        else if (side.isSheet) side.closeSheet();
        else if (inspected !== undefined) closeInspector();
        else if (target !== undefined) setTarget(undefined);
        else if (beside !== undefined) navigate(sessionHref(session_id, fragment, undefined, find));
        else if (besideOf !== undefined) navigate(sessionHref(besideOf));
        else stop.escape();
      },
    },
  };
  const bindings = paneKeys(actions);
  useKeys(bindings, pane);
  useFocusBack(scroller, beside);
  useEffect(() => {
    // Not before the dialog has closed, which gives the focus back.
    if (goingOn === undefined && control !== undefined && takeToWrite(session_id)) focusComposer();
  });
  if (transcript === undefined || row === undefined) return null;
  const tools = paneTools(actions, {
    main,
    allOpen,
    isSideOpen: side.isSheet || side.isBeside,
    runs: runs.length,
    hasErrors: row.errors > 0 || hasFailedRuns,
  });
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
        onInspect={(view) => inspect({ view })}
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
          bindings={bindings}
          pane={pane}
          more={
            <>
              <SessionFacts row={row} context={transcript.context} />
              <MoreTools tools={tools} />
            </>
          }
        />
      </SessionHeader>
      {finder.isOpen && (
        <Find
          key={finder.opening.count}
          start={finder.opening.start}
          session={session}
          scroller={scroller}
          input={finder.input}
          opened={outputs.opened}
          onHit={async (index) => {
            const row = await goTo(index, true, true);
            finder.led(row);
            return row;
          }}
          onText={finder.setText}
          onClose={finder.close}
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
      <PaneNotices
        message={message}
        failure={failure}
        refused={refused}
        isOpened={isOpenedSession(session_id)}
        landed={landed}
      />
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
        {(main || side.isSheet) && (
          <PaneSide
            session={session}
            transcript={transcript}
            row={row}
            current={current}
            beside={beside}
            side={side}
            outline={outline}
            inView={inView}
            scroller={scroller}
            onGo={goTurn}
            onFigures={(turn) => inspect({ view: "figures", turn })}
          />
        )}
        <Body className="pane-main">
          {transcript.parts.length === 0 && <NothingYet row={row} />}
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
            search={finder.text}
            filter={rowFilter.rows}
            firstNew={firstNew}
            handle={scroller}
            onPlace={onPlace}
            onView={onView}
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
        {inspected !== undefined && (
          <Inspector
            row={row}
            inspected={inspected}
            isDocked={isInspectorDocked}
            onChange={setInspected}
            onClose={closeInspector}
          />
        )}
      </div>
      {goingOn !== undefined && (
        <GoOnDialog session={session} row={row} prompt_id={goingOn} onClose={() => setGoingOn(undefined)} />
      )}
      {agentOpen && control !== undefined && (
        <AgentDialog row={row} control={control} onClose={() => setAgentOpen(false)} />
      )}
    </Pane>
  );
}

function NothingYet({ row }: { row: SessionSummary }): ReactNode {
  return (
    <div className="blank">
      <h2>{t.session.nothingYet}</h2>
      <p>
        {row.status === "running"
          ? t.session.begun
          : row.control !== undefined
            ? t.session.writeFirst
            : t.session.endedEmpty}
      </p>
    </div>
  );
}
