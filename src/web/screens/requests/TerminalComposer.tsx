import "../../text/session-text.ts";
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import type { SessionSummary } from "../../../model/session.ts";
import { apiOf } from "../../api/api.ts";
import { newId } from "../../app/new-id.ts";
import { useClient } from "../../app/store.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";
import { isComposing } from "../../ui/composing.ts";

/** Sends prompts to an agent that runs in a terminal, and stops its turn. */
export function TerminalComposer({ row }: { row: SessionSummary }): ReactNode {
  const api = apiOf(useClient());
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const hint = useId();
  // A retry reuses the id, because the prompt may have been delivered although its reply was lost.
  const message = useRef<{ id: string; text: string }>(undefined);
  const send = async (): Promise<void> => {
    if (text.trim() === "" || isSending) return;
    if (message.current?.text !== text) message.current = { id: newId(), text };
    setSending(true);
    const reply = await api.promptTerminal(row.id, { message_id: message.current.id, text });
    setSending(false);
    if (reply.ok) message.current = undefined;
    setProblem(reply.ok ? undefined : t.terminal.notSent(failureText(reply.failure)));
    if (reply.ok) setText("");
  };
  const stop = async (): Promise<void> => {
    const reply = await api.stopTerminal(row.id);
    setProblem(reply.ok ? undefined : failureText(reply.failure));
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || isComposing(event.nativeEvent)) return;
    event.preventDefault();
    void send();
  };
  return (
    <section className="composer" aria-label={t.terminal.prompt}>
      <div className="prompt-input">
        <textarea
          className="prompt-text"
          rows={1}
          aria-label={t.terminal.prompt}
          aria-describedby={hint}
          placeholder={t.terminal.prompt}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKey}
        />
        <div className="terminal-buttons">
          {row.status === "running" && (
            <button type="button" className="button" onClick={() => void stop()}>
              {t.terminal.stop}
            </button>
          )}
          <button
            type="button"
            className="button button-main"
            disabled={text.trim() === "" || isSending}
            onClick={() => void send()}
          >
            {t.terminal.send}
          </button>
        </div>
      </div>
      <p className="composer-note" id={hint}>
        {t.terminal.promptHint}
      </p>
      <div role="alert">
        {problem !== undefined && <p className="composer-note composer-problem">{problem}</p>}
      </div>
    </section>
  );
}
