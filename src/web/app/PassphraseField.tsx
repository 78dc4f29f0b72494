import { type ReactNode, type RefObject, useId } from "react";

/** A password field, which password managers may fill in. */
export function PassphraseField({
  label,
  autoComplete,
  value,
  onChange,
  input,
}: {
  label: string;
  autoComplete: "current-password" | "new-password";
  value: string;
  onChange(value: string): void;
  input?: RefObject<HTMLInputElement | null>;
}): ReactNode {
  const id = useId();
  return (
    <p className="field">
      <label htmlFor={id}>{label}</label>
      <input
        ref={input}
        id={id}
        className="field-input"
        type="password"
        autoComplete={autoComplete}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </p>
  );
}

/** The account that a form's passphrases belong to. Without one, password managers may offer those of other logins at this address. */
export function PassphraseAccount(): ReactNode {
  return <input type="text" autoComplete="username" value="Verbatim" readOnly hidden />;
}
