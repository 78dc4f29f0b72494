import { type ReactNode, useState } from "react";
import { positionOf } from "../../model/accumulate.ts";
import type { SessionSummary } from "../../model/session.ts";
import { failureText } from "../api.ts";
import { draftOf } from "../composer/draft.ts";
import { Dialog } from "../Dialog.tsx";
import { newId } from "../new-id.ts";
import type { OpenSession } from "../open-session.ts";
import { navigate, sessionHref } from "../router.ts";
import { useClient } from "../store.ts";
import { promptText } from "../transcript/part-words.ts";
import { visible } from "../ui/hidden-text.tsx";

/** What can begin at a prompt of the past: a session of its own, or this one again. The prompt comes back to be changed. */
export function GoOnDialog({
  session,
  row,
  prompt_id,
  onClose,
}: {
  session: OpenSession;
  row: SessionSummary;
  /** The prompt's part. */
  prompt_id: string;
  onClose(): void;
}): ReactNode {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  // Made once for each time that it is opened: a reply that is lost makes no second session.
  const [fork_id] = useState(newId);
  const text = promptOf(session, prompt_id);
  const working = row.control?.state !== "idle";

  const fork = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    const reply = await client.api.fork(row.id, { session_id: fork_id, before: prompt_id });
    setBusy(false);
    if (!reply.ok) {
      setProblem(failureText(reply.failure));
      return;
    }
    const { session_id } = reply.value;
    draftOf(client, session_id).setText(text);
    onClose();
    navigate(sessionHref(session_id));
  };
  const rewind = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    const reply = await client.api.rewind(row.id, prompt_id);
    setBusy(false);
    if (!reply.ok) {
      setProblem(failureText(reply.failure));
      return;
    }
    const draft = draftOf(client, row.id);
    if (draft.state.getState().text.trim() === "") draft.setText(text);
    onClose();
  };

  return (
    <Dialog title="From this prompt" onClose={onClose}>
      <blockquote className="dialog-quote">{visible(text.slice(0, 300), "prose")}</blockquote>
      <dl className="dialog-choices">
        <div>
          <dt>
            <button type="button" className="button" disabled={busy} onClick={() => void fork()}>
              New session from here
            </button>
          </dt>
          <dd>It begins with all before this prompt; this session stays as it is.</dd>
        </div>
        <div>
          <dt>
            <button type="button" className="button" disabled={busy || working} onClick={() => void rewind()}>
              Rewind to here
            </button>
          </dt>
          <dd>
            {working
              ? "Once the agent has ended its turn, or was stopped."
              : "The agent forgets this prompt and all after it. It stays in the transcript; files stay as they are."}
          </dd>
        </div>
      </dl>
      {problem !== undefined && (
        <p className="dialog-problem" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  );
}

function promptOf(session: OpenSession, prompt_id: string): string {
  const { transcript } = session.state.getState();
  const index = transcript === undefined ? undefined : positionOf(transcript, prompt_id);
  const part = index === undefined ? undefined : session.partAt(index);
  return part?.type === "prompt" ? promptText(part.parts) : "";
}
