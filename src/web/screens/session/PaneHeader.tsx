import type { ReactNode, RefObject } from "react";
import { useStore } from "zustand";
import type { SessionSummary } from "../../../model/session.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import { HelpAndSettings } from "../../app/HelpAndSettings.tsx";
import type { KeyBinding } from "../../app/keys.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { sessionHref } from "../../app/router.ts";
import { t } from "../../text/text.ts";
import { MoreTools, type PaneTool, PaneTools } from "./PaneTools.tsx";
import { SessionFacts, SessionHeader } from "./SessionHeader.tsx";

interface Props {
  row: SessionSummary;
  transcript: Transcript;
  session: OpenSession;
  besideOf: string | undefined;
  tools: readonly PaneTool[];
  bindings: readonly KeyBinding[];
  pane: RefObject<HTMLElement | null>;
  onInspect(view: "errors" | "figures"): void;
}

/** The header of a pane, with its buttons. */
export function PaneHeader({
  row,
  transcript,
  session,
  besideOf,
  tools,
  bindings,
  pane,
  onInspect,
}: Props): ReactNode {
  const synced = useStore(session.state, (state) => state.synced);
  const refused = useStore(session.state, (state) => state.refused);
  const lastTurn = transcript.turns.at(transcript.turns.length - 1);
  const since = row.control !== undefined && lastTurn?.status === "running" ? lastTurn.started_at : undefined;
  return (
    <SessionHeader
      row={row}
      since={since}
      context={transcript.context}
      synced={synced || refused !== undefined}
      besideOf={besideOf}
      onInspect={onInspect}
    >
      <PaneTools tools={tools} />
      {besideOf !== undefined && (
        <>
          <a className="button" href={sessionHref(row.id)}>
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
  );
}
