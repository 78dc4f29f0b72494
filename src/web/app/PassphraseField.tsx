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
