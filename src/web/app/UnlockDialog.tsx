import "../text/screens-text.ts";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { giveUpUnlocking } from "../api/answer-lock.ts";
import { apiOf } from "../api/api.ts";
import { failureText } from "../text/failure-text.ts";
import { t } from "../text/text.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { PassphraseAccount, PassphraseField } from "./PassphraseField.tsx";
import { useClient } from "./store.ts";

/** Asks for the answer passphrase, after the daemon refused an answer without it. */
export function UnlockDialog(): ReactNode {
  const client = useClient();
  const field = useRef<HTMLInputElement>(null);
  const [passphrase, setPassphrase] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();

  // Runs after the dialog's own effect, which focuses the dialog.
  useEffect(() => field.current?.focus(), []);

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (busy || passphrase === "") return;
    setBusy(true);
    const reply = await apiOf(client).unlock(passphrase);
    // If the passphrase is right, the dialog is unmounted.
    if (reply.ok) return;
    setBusy(false);
    setProblem(failureText(reply.failure));
    field.current?.select();
  };
  return (
    <Dialog title={t.unlock.title} onClose={() => giveUpUnlocking(client.answer_lock)}>
      <form onSubmit={(event) => void submit(event)}>
        <p className="dialog-note">{t.unlock.note}</p>
        <PassphraseAccount />
        <PassphraseField
          input={field}
          label={t.unlock.passphrase}
          autoComplete="current-password"
          value={passphrase}
          onChange={setPassphrase}
        />
        <p className="dialog-problem" role="alert">
          {problem}
        </p>
        <p className="dialog-buttons">
          <button type="submit" className="button button-main" aria-disabled={busy || passphrase === ""}>
            {t.unlock.unlock}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
