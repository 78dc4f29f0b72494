import { type ReactNode, useId } from "react";
import { t } from "../../text/text.ts";
import type { NewSessionForm } from "./use-new-session.ts";

/** The working folder of the agent, with recent folders as suggestions. */
export function FolderField({ form, isFixed }: { form: NewSessionForm; isFixed: boolean }): ReactNode {
  const { reply } = form;
  const id = useId();
  const about = useId();
  const list = useId();
  const folders = [...new Set([...(reply?.recent.map(({ cwd }) => cwd) ?? []), reply?.cwd ?? ""])].filter(
    Boolean,
  );
  return (
    <div className="field">
      <label htmlFor={id}>{t.start.folderLabel}</label>
      <input
        id={id}
        className="field-input field-mono"
        type="text"
        list={list}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        value={form.choice.cwd ?? ""}
        readOnly={isFixed}
        aria-invalid={form.problems.cwd !== undefined || undefined}
        aria-describedby={about}
        onChange={(event) => form.choose({ cwd: event.target.value }, "cwd")}
      />
      <datalist id={list}>
        {folders.map((folder) => (
          <option key={folder} value={folder} />
        ))}
      </datalist>
      <p
        className={form.problems.cwd === undefined ? "field-about" : "field-problem"}
        id={about}
        role={form.problems.cwd === undefined ? undefined : "alert"}
      >
        {form.problems.cwd ?? t.start.folder}
      </p>
    </div>
  );
}
