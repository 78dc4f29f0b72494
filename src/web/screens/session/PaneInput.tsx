import type { ReactNode, RefObject } from "react";
import type { SessionSummary } from "../../../model/session.ts";
import type { OpenSession } from "../../app/open-session.ts";
import type { Stop } from "../../composer/use-stop.ts";
import type { TranscriptHost } from "../../transcript/host.ts";
import { Composer, OpenRequests, TerminalComposer } from "./pane-parts.tsx";

interface Props {
  row: SessionSummary;
  session: OpenSession;
  host: TranscriptHost;
  stop: Stop;
  input: RefObject<HTMLTextAreaElement | null>;
  onMessage(message: string): void;
  onSend(): void;
}

/** The input below the transcript: for prompts to a managed agent, or to an agent in a terminal that accepts them. */
export function PaneInput({ row, session, host, stop, input, onMessage, onSend }: Props): ReactNode {
  const { control, requests = [] } = row;
  const inTerminal = requests.filter(({ in_terminal }) => in_terminal === true);
  return (
    <>
      {control === undefined && (
        <OpenRequests row={row} open={inTerminal} host={host} onMessage={onMessage} />
      )}
      {control === undefined && row.takes_prompts === true && <TerminalComposer row={row} />}
      {control !== undefined && (
        <Composer row={row} control={control} stop={stop} input={input} session={session} onSend={onSend} />
      )}
    </>
  );
}
