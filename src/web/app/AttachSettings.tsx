import { type ReactNode, useEffect, useState } from "react";
import type { Attachment } from "../../protocol.ts";
import { apiOf } from "../api/api.ts";
import { translatedText } from "../text/daemon-text.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";
import { ScrollBox } from "../ui/ScrollBox.tsx";
import { useClient } from "./store.ts";

/** Lists the terminal agents whose requests can be answered here, and the change to their settings that this requires. */
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
      <legend>{t.attach.heading}</legend>
      {agents === undefined && problem === undefined && <p className="dialog-note">{t.attach.loading}</p>}
      {agents?.map((one) => (
        <div key={one.agent}>
          <p>
            {t.attach.about[one.answers](one.name)}{" "}
            <button
              type="button"
              className="button"
              disabled={busy || one.problem !== undefined}
              onClick={() => void change(one)}
            >
              {one.is_installed ? t.attach.remove : t.attach.install}
              <span className="unseen"> {one.name}</span>
            </button>
          </p>
          <p className="dialog-note">
            {one.problem === undefined ? factsOf(one) : translatedText(one.problem, one.problem_code)}
          </p>
          {one.diff !== "" && (
            <details>
              <summary>{t.attach.change}</summary>
              <ScrollBox className="attach-diff" label={t.attach.changeOf(one.file)}>
                {one.diff}
              </ScrollBox>
            </details>
          )}
        </div>
      ))}
      {problem !== undefined && (
        <p className="request-problem" role="alert">
          {t.attach.failed(problem)}
        </p>
      )}
    </fieldset>
  );
}

/** Where the agent is attached, or what attaching changes. */
function factsOf({ by, file, is_installed, in_open_sessions }: Attachment): string {
  if (is_installed) return t.attach.on[by](file);
  return by === "hook" && !in_open_sessions ? t.attach.offHookLater(file) : t.attach.off[by](file);
}
