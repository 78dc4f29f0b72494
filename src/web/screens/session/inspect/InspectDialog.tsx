import "../../../text/session-text.ts";
import "../../../text/screens-text.ts";
import "../../../text/inspect-text.ts";
import { type KeyboardEvent, type ReactNode, useId } from "react";
import type { SessionSummary } from "../../../../model/session.ts";
import { t } from "../../../text/text.ts";
import { Dialog } from "../../../ui/Dialog.tsx";
import { ChangesView } from "./ChangesView.tsx";
import { CompareView } from "./CompareView.tsx";
import { ContextView } from "./ContextView.tsx";
import { FiguresView } from "./FiguresView.tsx";
import { INSPECT_VIEWS, type Inspected } from "./inspected.ts";
import { NotesView } from "./NotesView.tsx";
import { VerifyView } from "./VerifyView.tsx";
import "./inspect.css";

interface Props {
  row: SessionSummary;
  inspected: Inspected;
  onChange(inspected: Inspected): void;
  onClose(): void;
}

/** The inspector: tabs for changes, model input, figures, comparison, verification and notes of a session. */
export function InspectDialog({ row, inspected, onChange, onClose }: Props): ReactNode {
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
    <Dialog title={t.inspect.titles[view]} className="dialog-wide dialog-inspect" onClose={onClose}>
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
    </Dialog>
  );
}

function View({ row, inspected, onChange, onClose }: Props): ReactNode {
  const { view, turn } = inspected;
  const onTurn = (chosen: number | undefined): void => onChange({ ...inspected, turn: chosen });
  switch (view) {
    case "changes":
      return <ChangesView session_id={row.id} cwd={row.cwd} turn={turn} onTurn={onTurn} onClose={onClose} />;
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
