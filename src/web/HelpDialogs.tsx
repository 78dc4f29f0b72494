import type { ReactNode } from "react";
import { Dialog } from "./Dialog.tsx";
import type { KeyBinding } from "./keys.ts";
import type { Settings } from "./settings.ts";
import { useSetting } from "./store.ts";

export type Shown = "keys" | "settings" | "more";

const NAMES: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  " ": "Space",
  "Shift+ ": "Shift+Space",
};

/** The dialog behind one of the buttons of `HelpAndSettings`. */
export function HelpDialogs({
  shown,
  bindings,
  more,
  onShow,
  onClose,
}: {
  shown: Shown;
  bindings: readonly KeyBinding[];
  more: ReactNode;
  onShow(shown: Shown): void;
  onClose(closed: Shown): void;
}): ReactNode {
  const close = (): void => onClose(shown);
  switch (shown) {
    case "keys":
      return (
        <Dialog key={shown} title="Keys" onClose={close}>
          <dl className="key-list">
            {bindings.map(({ keys, does }) => (
              <div key={does}>
                <dt>
                  {keys.map((key) => (
                    <kbd key={key}>{NAMES[key] ?? key}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      );
    case "settings":
      return (
        <Dialog key={shown} title="Settings" onClose={close}>
          <Choice
            name="theme"
            label="Theme"
            options={[
              ["system", "As the system"],
              ["dark", "Dark"],
              ["light", "Light"],
            ]}
          />
          <Choice
            name="thinking"
            label="Thinking"
            options={[
              ["open-while-live", "Open while it grows"],
              ["closed", "Closed"],
              ["open", "Open"],
            ]}
          />
          <Choice
            name="times"
            label="Times"
            options={[
              ["clock", "Time of day"],
              ["elapsed", "Since the session began"],
            ]}
          />
          <Switch name="showSteps" label="Show where each step (model call) begins and ends" />
          <p className="dialog-note">Kept in this browser.</p>
        </Dialog>
      );
    case "more":
      return (
        <Dialog key={shown} title="This session" onClose={close}>
          {/* biome-ignore lint/a11y: what is clicked are links and buttons, which know the keys */}
          <div
            onClick={({ target, currentTarget }) => {
              // Whatever was chosen is done on the page behind.
              if (target instanceof Element && target.closest("a, button") !== null)
                currentTarget.closest("dialog")?.close();
            }}
          >
            {more}
            <p className="dialog-buttons">
              <button type="button" className="button" onClick={() => onShow("settings")}>
                Settings
              </button>
              <button type="button" className="button" onClick={() => onShow("keys")}>
                Keys
              </button>
            </p>
          </div>
        </Dialog>
      );
  }
  return shown satisfies never;
}

function Choice<Name extends "theme" | "thinking" | "times">({
  name,
  label,
  options,
}: {
  name: Name;
  label: string;
  options: readonly (readonly [Settings[Name], string])[];
}): ReactNode {
  const [value, setValue] = useSetting(name);
  return (
    <fieldset className="choice">
      <legend>{label}</legend>
      {options.map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={name} checked={value === option} onChange={() => setValue(option)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

function Switch({ name, label }: { name: "showSteps"; label: string }): ReactNode {
  const [value, setValue] = useSetting(name);
  return (
    <label className="choice">
      <input type="checkbox" checked={value} onChange={(event) => setValue(event.target.checked)} />
      {label}
    </label>
  );
}
