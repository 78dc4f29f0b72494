import "../../text/session-text.ts";
import type { ReactNode } from "react";
import type { OpenRequest, SessionSummary } from "../../../model/session.ts";
import { useKeys } from "../../app/keys.ts";
import { sessionHref } from "../../app/router.ts";
import { clockTime } from "../../text/format.ts";
import type { TranscriptHost } from "../../transcript/host.ts";
import { OpenRequests } from "../requests/OpenRequests.tsx";
import { answerKeys } from "../session/session-keys.ts";

/** Answers a session's request within the list. */
export function AnswerPanel({ row, open }: { row: SessionSummary; open: readonly OpenRequest[] }): ReactNode {
  useKeys(answerKeys());
  return <OpenRequests row={row} open={open} host={HOST} />;
}

/** The form of a request uses few members of the host. */
const HOST: TranscriptHost = {
  openState: () => undefined,
  setOpen: () => {},
  partHref: () => "",
  runHref: (id) => sessionHref(id),
  thinking: "closed",
  showSteps: false,
  everyRecord: false,
  formatTime: clockTime,
};
