import { type ReactNode, useEffect, useState } from "react";
import type { Attachment } from "../../protocol.ts";
import { apiOf } from "../api/api.ts";
import { en } from "../text/en.ts";
import { failureText } from "../text/failure-text.ts";
import { ScrollBox } from "../ui/ScrollBox.tsx";
import { useClient } from "./store.ts";

/** Which agents in terminals can be answered here, and the change of their settings that it takes. */
export function AttachSettings(): ReactNode {
  const api = apiOf(useClient());
  const [agents, setAgents] = useState<readonly Attachment[]>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    const ended = new AbortController();
    void api.attachments(ended.signal).then((reply) => {
      if (ended.signal.aborted) return;
      if (reply.ok) setAgents(reply.value.agents);
      else setProblem(failureText(reply.failure));
    });
    return () => ended.abort();
  }, [api]);

  const change = async ({ agent, is_installed }: Attachment): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    const reply = await api.changeAttachment(agent, is_installed ? "remove" : "install");
    setBusy(false);
    if (!reply.ok) setProblem(failureText(reply.failure));
    else setAgents((before) => before?.map((one) => (one.agent === agent ? reply.value : one)));
  };

  return (
    <fieldset className="choice attach-settings">
      <legend>{en.attach.heading}</legend>
      {agents === undefined && problem === undefined && <p className="dialog-note">{en.attach.loading}</p>}
      {agents?.map((one) => (
        <div key={one.agent}>
          <p>
            {en.attach.about(one.name)}{" "}
            <button
              type="button"
              className="button"
              disabled={busy || one.problem !== undefined}
              onClick={() => void change(one)}
            >
              {one.is_installed ? en.attach.remove : en.attach.install}
              <span className="unseen"> {one.name}</span>
            </button>
          </p>
          <p className="dialog-note">
            {one.problem ?? (one.is_installed ? en.attach.on : en.attach.off)[one.by](one.file)}
          </p>
          {one.diff !== "" && (
            <details>
              <summary>{en.attach.change}</summary>
              <ScrollBox className="attach-diff" label={en.attach.changeOf(one.file)}>
                {one.diff}
              </ScrollBox>
            </details>
          )}
        </div>
      ))}
      {problem !== undefined && (
        <p className="request-problem" role="alert">
          {en.attach.failed(problem)}
        </p>
      )}
    </fieldset>
  );
}
