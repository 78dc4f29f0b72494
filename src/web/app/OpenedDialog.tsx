import type { ReactNode } from "react";
import type { OpenedFilesReply } from "../../protocol.ts";
import { translatedText } from "../text/daemon-text.ts";
import { ago } from "../text/format.ts";
import { t } from "../text/text.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { topSessions } from "./opened-files.ts";
import { sessionHref } from "./router.ts";
import { sessionTitle } from "./session-title.ts";

export { openFiles, topSessions } from "./opened-files.ts";

/** Shows why nothing could be opened, or lets the user choose between several sessions and lists files that could not be read. */
export function OpenedDialog({
  opened,
  onClose,
}: {
  opened: OpenedFilesReply | { problem: string };
  onClose(): void;
}): ReactNode {
  if ("problem" in opened)
    return (
      <Dialog title={t.opened.failed} onClose={onClose}>
        <p role="alert">{visible(opened.problem, "prose")}</p>
      </Dialog>
    );
  const sessions = topSessions(opened);
  return (
    <Dialog title={t.opened.found(sessions.length)} onClose={onClose}>
      <ul className="opened-list">
        {sessions.map((row) => (
          <li key={row.id}>
            <a href={sessionHref(row.id)} onClick={onClose}>
              {sessionTitle(row)}
            </a>{" "}
            <span className="dialog-note">
              {visible(
                [
                  row.agent_name ?? row.agent,
                  t.count.turns(row.turns),
                  ago(row.last_activity_at, Date.now()),
                ].join(" · "),
                "name",
              )}
            </span>
          </li>
        ))}
      </ul>
      {opened.problems.map(({ path, text, text_code }) => (
        <p key={path} className="dialog-note">
          {visible(`${path}: ${translatedText(text, text_code)}`, "prose")}
        </p>
      ))}
    </Dialog>
  );
}
