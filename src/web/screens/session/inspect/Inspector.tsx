import "../../../text/session-text.ts";
import "../../../text/screens-text.ts";
import "../../../text/inspect-text.ts";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { SessionSummary } from "../../../../model/session.ts";
import { t } from "../../../text/text.ts";
import { Dialog } from "../../../ui/Dialog.tsx";
import { Splitter } from "../../../ui/Splitter.tsx";
import { ChangesView } from "./ChangesView.tsx";
import { CompareView } from "./CompareView.tsx";
import { ContextView } from "./ContextView.tsx";
import { ErrorsView } from "./ErrorsView.tsx";
import { FiguresView } from "./FiguresView.tsx";
import { INSPECT_VIEWS, type Inspected } from "./inspected.ts";
import { NotesView } from "./NotesView.tsx";
import { VerifyView } from "./VerifyView.tsx";
import "./inspect.css";

interface Props {
  row: SessionSummary;
  inspected: Inspected;
  onChange(inspected: Inspected): void;
  /** Called when a link into the transcript is followed, which closes the dialog that covers the transcript. */
  onClose(): void;
}

/**
 * The inspector: tabs for changes, errors, model input, figures, comparison, verification and notes of a session. `isDocked`: a
 * panel beside the transcript, which stays open when a link is followed; otherwise a dialog over the transcript.
 */
export function Inspector({ isDocked, ...props }: Props & { isDocked: boolean }): ReactNode {
  return isDocked ? (
    <InspectorPanel {...props} />
  ) : (
    <Dialog
      title={t.inspect.titles[props.inspected.view]}
      className="dialog-wide inspector"
      onClose={props.onClose}
    >
      <Tabs {...props} />
    </Dialog>
  );
}

/** Minimum widths of the panel and of the transcript beside it, in pixels. */
const MIN_WIDTH = 480;
const MIN_TRANSCRIPT = 720;
/** Initial width of the panel, as a share of the window. */
const INITIAL_SHARE = 0.38;

/** The width that the user chose last, in pixels. Kept until the page is closed. */
let chosenWidth: number | undefined;

function InspectorPanel(props: Props): ReactNode {
  const { inspected, onClose } = props;
  const panel = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(() => chosenWidth ?? Math.round(innerWidth * INITIAL_SHARE));
  const max = Math.max(MIN_WIDTH, innerWidth - MIN_TRANSCRIPT);
  // Move the focus into the panel if the change came from outside it, such as from the transcript.
  useEffect(() => {
    if (panel.current?.contains(document.activeElement) === false)
      panel.current.focus({ preventScroll: true });
  }, [inspected]);
  return (
    <>
      <Splitter
        label={t.inspect.width}
        width={Math.min(width, max)}
        min={MIN_WIDTH}
        max={max}
        onWidth={(to) => {
          chosenWidth = to;
          setWidth(to);
        }}
      />
      <aside
        ref={panel}
        className="inspector inspector-panel"
        style={{ width: Math.min(width, max) }}
        tabIndex={-1}
        aria-label={t.inspect.tabs}
      >
        <button type="button" className="button inspector-close" onClick={onClose}>
          {t.common.close}
        </button>
        <Tabs {...props} onClose={doNothing} />
      </aside>
    </>
  );
}

const doNothing = (): void => {};

function Tabs({ row, inspected, onChange, onClose }: Props): ReactNode {
  const panel = useId();
  const { view } = inspected;
  const onKey = ({ key, currentTarget }: KeyboardEvent<HTMLDivElement>): void => {
    const by = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    const next = INSPECT_VIEWS.at((INSPECT_VIEWS.indexOf(view) + by) % INSPECT_VIEWS.length) ?? view;
    onChange({ ...inspected, view: next });
    currentTarget.querySelector<HTMLElement>(`[data-view="${next}"]`)?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={t.inspect.tabs} onKeyDown={onKey}>
        {INSPECT_VIEWS.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            className="tab"
            data-view={each}
            aria-selected={each === view}
            aria-controls={panel}
            tabIndex={each === view ? 0 : -1}
            onClick={() => onChange({ ...inspected, view: each })}
          >
            {t.inspect.titles[each]}
          </button>
        ))}
      </div>
      <div id={panel} role="tabpanel" tabIndex={-1} aria-label={t.inspect.titles[view]}>
        <View row={row} inspected={inspected} onChange={onChange} onClose={onClose} />
      </div>
    </>
  );
}

function View({ row, inspected, onChange, onClose }: Props): ReactNode {
  const { view, turn } = inspected;
  const onTurn = (chosen: number | undefined): void => onChange({ ...inspected, turn: chosen });
  switch (view) {
    case "changes":
      return <ChangesView session_id={row.id} cwd={row.cwd} turn={turn} onTurn={onTurn} onClose={onClose} />;
    case "errors":
      return <ErrorsView row={row} onClose={onClose} />;
    case "context":
      return (
        <ContextView
          session_id={row.id}
          which={inspected.which ?? { call: 1 }}
          onCall={(call) => onChange({ ...inspected, which: { call } })}
          onClose={onClose}
        />
      );
    case "figures":
      return <FiguresView row={row} turn={turn} onTurn={onTurn} onClose={onClose} />;
    case "verify":
      return <VerifyView row={row} onClose={onClose} />;
    case "notes":
      return <NotesView row={row} onClose={onClose} />;
    case "compare":
      return (
        <CompareView
          row={row}
          other={inspected.other}
          onOther={(other) => onChange({ ...inspected, other })}
          onClose={onClose}
        />
      );
  }
  return view satisfies never;
}
