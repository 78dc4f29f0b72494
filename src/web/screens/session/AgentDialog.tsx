import "../../text/screens-text.ts";
import "../../text/session-text.ts";
import "../../text/inspect-text.ts";
import { type ReactNode, useEffect, useState } from "react";
import type { SessionControl, SessionSummary } from "../../../model/session.ts";
import type { AgentsReply } from "../../../protocol.ts";
import { apiOf } from "../../api/api.ts";
import type { ApiResult } from "../../api/requests.ts";
import { useClient } from "../../app/store.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { ModelField } from "../new-session/ModelField.tsx";

/** Switches the model of a session's agent, and compacts its context. */
export function AgentDialog({
  row,
  control,
  onClose,
}: {
  row: SessionSummary;
  control: SessionControl;
  onClose(): void;
}): ReactNode {
  const api = apiOf(useClient());
  const [agents, setAgents] = useState<AgentsReply["agents"]>();
  const [model, setModel] = useState(row.model ?? "");
  const [busy, setBusy] = useState(false);
  const [message, setMessage] = useState<{ text: string; failed: boolean }>();
  useEffect(() => {
    let isClosed = false;
    void api.agents().then((reply) => {
      if (isClosed) return;
      if (reply.ok) setAgents(reply.value.agents);
      else setMessage({ text: failureText(reply.failure), failed: true });
    });
    return () => {
      isClosed = true;
    };
  }, [api]);

  const change = async (request: () => Promise<ApiResult<unknown>>, done: string): Promise<void> => {
    setBusy(true);
    setMessage(undefined);
    const reply = await request();
    setBusy(false);
    setMessage(reply.ok ? { text: done, failed: false } : { text: failureText(reply.failure), failed: true });
  };

  const agent = agents?.find(({ id }) => id === (row.provider ?? row.agent));
  const canSwitch = agent !== undefined && control.can_switch_model;
  return (
    <Dialog title={t.session.agentSettings} onClose={onClose}>
      {canSwitch && (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            void change(() => api.setModel(row.id, model.trim()), t.agentDialog.changed(model.trim()));
          }}
        >
          <ModelField agent={agent} value={model} onChange={setModel} />
          <p>
            <button
              type="submit"
              className="button"
              disabled={busy || model.trim() === "" || model.trim() === row.model}
            >
              {agent.scripted ? t.agentDialog.switchScript : t.agentDialog.switchModel}
            </button>
          </p>
        </form>
      )}
      {control.can_compact && (
        <dl className="dialog-choices">
          <dt>
            <button
              type="button"
              className="button"
              disabled={busy || control.state !== "idle"}
              onClick={() => void change(() => api.compact(row.id), t.session.compacting)}
            >
              {t.agentDialog.compact}
            </button>
          </dt>
          <dd>{control.state === "idle" ? t.agentDialog.compactAbout : t.agentDialog.compactLater}</dd>
        </dl>
      )}
      {!control.can_compact && agents !== undefined && !canSwitch && <p>{t.session.ownSettings}</p>}
      {message !== undefined && (
        <p
          className={message.failed ? "dialog-problem" : "dialog-note"}
          role={message.failed ? "alert" : "status"}
        >
          {message.text}
        </p>
      )}
    </Dialog>
  );
}
