import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { SessionSummary } from "../../../model/session.ts";
import { useKeys } from "../../app/keys.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { navigate, saveStateOnLeave, sessionHref } from "../../app/router.ts";
import { sessionTitle } from "../../app/session-title.ts";
import { useRow, useSetting } from "../../app/store.ts";
import { useWaitingKey } from "../../app/waiting.ts";
import { useStop } from "../../composer/use-stop.ts";
import { t } from "../../text/text.ts";
import { newNoteKey } from "../../transcript/host.ts";
import { useSessionNotes } from "./notes/session-notes.ts";
import { PaneBars } from "./PaneBars.tsx";
import { PaneHeader } from "./PaneHeader.tsx";
import { PaneInput } from "./PaneInput.tsx";
import { PaneNotices } from "./PaneNotices.tsx";
import { PaneSide } from "./PaneSide.tsx";
import { type PaneActions, paneKeys } from "./pane-keys.ts";
import { AgentDialog, Composer, ForkDialog, Inspector, LanesPanel } from "./pane-parts.tsx";
import { callHere, partToNote, stepsFrom } from "./pane-position.ts";
import type { PaneProps } from "./pane-props.ts";
import { paneTools } from "./pane-tools.ts";
import { useRuns } from "./runs/RunsPanel.tsx";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";
import { TranscriptScroller } from "./TranscriptScroller.tsx";
import { useAddressTarget } from "./use-address.ts";
import { useFilter } from "./use-filter.ts";
import { useReadingHost } from "./use-host.ts";
import { useInspector } from "./use-inspector.ts";
import { useNavigation } from "./use-navigation.ts";
import { usePaneFind } from "./use-pane-find.ts";
import { useFocusBack } from "./use-pane-focus.ts";
import { usePaneTitle } from "./use-pane-title.ts";
import { usePlaces } from "./use-places.ts";
import { usePromptFocus } from "./use-prompt-focus.ts";
import { useMark, useReadState } from "./use-read-state.ts";
import { useResume } from "./use-resume.ts";
import { useSide } from "./use-side.ts";
import { useTurnOutline } from "./use-turn-outline.ts";
import { WaitingBanner } from "./WaitingBanner.tsx";

/** The pane of a session whose transcript is loaded. Connects the components of the pane. */
export function ReadyPane({ session, ...props }: PaneProps & { session: OpenSession }): ReactNode {
  const { session_id, fragment, visit, beside, find, besideOf } = props;
  const transcript = useStore(session.state, (state) => state.transcript);
  const summary = useStore(session.state, (state) => state.summary);
  const row = useRow(session_id) ?? summary;
  const runs = useRuns(session_id);
  const main = besideOf === undefined;
  const control = row?.control;
  const working = control?.state === "working" || control?.state === "waiting";
  const stop = useStop(session_id, working, transcript?.turns.at(transcript.turns.length - 1)?.id);
  const composer = useRef<HTMLTextAreaElement>(null);
  const [forkAt, setForkAt] = useState<string>();
  const [agentOpen, setAgentOpen] = useState(false);
  const pane = useRef<HTMLDivElement>(null);
  const scroller = useRef<ScrollerHandle>(null);
  const inspector = useInspector(main && beside === undefined, scroller);
  const { inspect } = inspector;

  const { reading, initial, resumed } = useResume(session_id, fragment);
  const [target, setTarget] = useState(resumed?.marked);
  const notes = useSessionNotes(session_id);
  const { host, outputs, setOpen, setAllOpen, allOpen, savePlace, placeNow } = useReadingHost(
    session,
    reading,
    { fragment, marked: target },
    { row, branchFrom: main && control?.can_fork === true ? setForkAt : undefined, inspect, notes },
  );
  const rowFilter = useFilter(session, host);
  const finder = usePaneFind(props, scroller, transcript);
  const [message, setMessage] = useState("");
  const places = usePlaces(session, initial, { savePlace, setMessage });
  const side = useSide({ main, beside }, scroller);
  const [lanes, setLanes] = useSetting("lanes");
  const { goTo, toTurn, stepError, toEnding, hasFailedRuns, scrolledTo } = useNavigation({
    session,
    scroller,
    rowFilter,
    target,
    setTarget,
    setOpen,
    setMessage,
    openBeside: main ? (run_id) => navigate(sessionHref(session_id, "", run_id)) : undefined,
  });

  useAddressTarget({
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
  useEffect(() => (main ? saveStateOnLeave(() => ({ place: placeNow() })) : undefined), [main, placeNow]);
  usePaneTitle(row, main);

  const toEnd = useCallback(() => scroller.current?.toEnd(), []);
  const outline = useTurnOutline(session, places.current, side.isBeside || side.isSheet);
  const { goTurn, stepTurn, stepOutline } = stepsFrom(scroller, transcript, outline, (turn) => {
    side.closeSheet();
    places.setCurrent(turn);
    void toTurn(turn);
  });
  const focusComposer = (): void => void Composer.load().then(() => composer.current?.focus());

  const { firstNew, isAbove } = useReadState(session, scroller);
  const mark = useMark(session_id, setMessage);
  const nextWaiting = useWaitingKey((found) => setMessage(found ? "" : t.waiting.none));
  const actions: PaneActions = {
    session_id,
    row,
    scroller,
    find: finder,
    filter: rowFilter,
    firstNew,
    hasRequests: row?.requests?.some(({ in_terminal }) => in_terminal === true) === true,
    nextWaiting,
    isTimelineOpen: lanes,
    goTo,
    stepTurn,
    stepOutline,
    stepError,
    toEnding,
    changeAllOpen: () => setAllOpen(allOpen === undefined ? true : allOpen ? false : undefined),
    inspect,
    writeNote() {
      const part_id = partToNote(session, scroller, pane.current, target);
      if (part_id === undefined) setMessage(t.notes.noPart);
      else notes?.begin(newNoteKey(part_id), "");
    },
    callHere: () => callHere(session, scroller, transcript, target),
    toggleTimeline: () => setLanes(!lanes),
    toggleSide: side.toggle,
    focusComposer,
    openAgent: () => setAgentOpen(true),
    mark,
    setMessage,
    escape: {
      label: working ? t.session.closeThenStop : t.session.closeKeys,
      run() {
        setMessage("");
        if (finder.isOpen) finder.close();
        else if (side.isSheet) side.closeSheet();
        else if (inspector.inspected !== undefined) inspector.close();
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
  usePromptFocus(session_id, forkAt === undefined && control !== undefined, focusComposer);
  if (transcript === undefined || row === undefined) return null;
  const tools = paneTools(actions, {
    main,
    allOpen,
    isSideOpen: side.isSheet || side.isBeside,
    runs: runs.length,
    hasErrors: row.errors > 0 || hasFailedRuns,
  });
  // A page may have only one `main` and one banner: the header of a `section` does not count as a banner.
  const [Pane, Body] = main ? (["div", "main"] as const) : (["section", "div"] as const);
  return (
    <Pane
      ref={pane}
      className={main ? "pane" : "pane pane-beside"}
      aria-label={main ? undefined : t.session.split}
    >
      <PaneHeader
        row={row}
        transcript={transcript}
        session={session}
        besideOf={besideOf}
        tools={tools}
        bindings={bindings}
        pane={pane}
        onInspect={(view) => inspect({ view })}
      />
      <PaneBars
        session={session}
        scroller={scroller}
        finder={finder}
        filter={rowFilter}
        openedOutputs={outputs.opened}
        goTo={(index) => goTo(index, true, true)}
      />
      <PaneNotices session={session} message={message} scrolledTo={scrolledTo} />
      <WaitingBanner session_id={session_id} />
      {main && lanes && (
        <LanesPanel
          session_id={session_id}
          readAt={places.readAt}
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
            current={places.current}
            beside={beside}
            side={side}
            outline={outline}
            inView={places.inView}
            scroller={scroller}
            onGo={goTurn}
            onFigures={(turn) => inspect({ view: "figures", turn })}
          />
        )}
        <Body className="pane-main">
          {transcript.parts.length === 0 && <EmptyTranscript row={row} />}
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
            onPlace={places.onPlace}
            onView={places.onView}
          />
          <PaneInput
            row={row}
            session={session}
            host={host}
            stop={stop}
            input={composer}
            onMessage={setMessage}
            onSend={toEnd}
          />
        </Body>
        {inspector.inspected !== undefined && (
          <Inspector
            row={row}
            inspected={inspector.inspected}
            isDocked={inspector.isDocked}
            onChange={inspect}
            onClose={inspector.close}
          />
        )}
      </div>
      {forkAt !== undefined && (
        <ForkDialog session={session} row={row} prompt_id={forkAt} onClose={() => setForkAt(undefined)} />
      )}
      {agentOpen && control !== undefined && (
        <AgentDialog row={row} control={control} onClose={() => setAgentOpen(false)} />
      )}
    </Pane>
  );
}

function EmptyTranscript({ row }: { row: SessionSummary }): ReactNode {
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
