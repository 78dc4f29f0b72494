import { type ReactNode, type RefObject, useRef, useState } from "react";
import { type KeyBinding, useKeys } from "./keys.ts";
import type { Settings } from "./settings.ts";
import { useSetting } from "./store.ts";

const NAMES: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  " ": "Space",
};

/**
 * The two dialogs that every screen has, and their buttons. `more`: what a narrow screen has no room for beside them; there
 * one button opens a dialog with all of it.
 */
export function HelpAndSettings({
  bindings,
  more,
  pane,
}: {
  bindings: readonly KeyBinding[];
  more?: ReactNode;
  /** Whose keys these are, where several panes stand side by side. */
  pane?: RefObject<HTMLElement | null>;
}): ReactNode {
  const moreDialog = useRef<HTMLDialogElement>(null);
  const [isMore, setMore] = useState(false);
  const help = useRef<HTMLDialogElement>(null);
  const settings = useRef<HTMLDialogElement>(null);
  const own: KeyBinding[] = [
    { keys: ["?"], does: "Show the keys", run: () => help.current?.showModal() },
    { keys: [","], does: "Settings", run: () => settings.current?.showModal() },
  ];
  useKeys(own, pane);
  return (
    <span className="tools">
      <button
        type="button"
        className={more === undefined ? "button" : "button if-wide"}
        onClick={() => help.current?.showModal()}
        aria-label="Keys"
      >
        ?
      </button>
      <button
        type="button"
        className={more === undefined ? "button" : "button if-wide"}
        onClick={() => settings.current?.showModal()}
      >
        Settings
      </button>
      {more !== undefined && (
        <>
          <button
            type="button"
            className="button if-narrow"
            aria-haspopup="dialog"
            onClick={() => {
              setMore(true);
              moreDialog.current?.showModal();
            }}
          >
            More
          </button>
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: what is clicked are links and buttons, which know the keys */}
          <dialog
            ref={moreDialog}
            className="dialog"
            aria-labelledby="more-title"
            onClose={() => setMore(false)}
            onClick={(event) => {
              // Whatever was chosen is done on the page behind.
              if (event.target instanceof Element && event.target.closest("a, button"))
                moreDialog.current?.close();
            }}
          >
            <h2 id="more-title">This session</h2>
            {isMore && more}
            <div className="dialog-buttons">
              <button type="button" className="button" onClick={() => settings.current?.showModal()}>
                Settings
              </button>
              <button type="button" className="button" onClick={() => help.current?.showModal()}>
                Keys
              </button>
              <button type="button" className="button">
                Close
              </button>
            </div>
          </dialog>
        </>
      )}
      <dialog ref={help} className="dialog" aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl className="key-list">
          {[...bindings, ...own].map(({ keys, does }) => (
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
        <CloseDialog />
      </dialog>
      <dialog ref={settings} className="dialog" aria-labelledby="settings-title">
        <h2 id="settings-title">Settings</h2>
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
        <CloseDialog />
      </dialog>
    </span>
  );
}

function CloseDialog(): ReactNode {
  return (
    <button
      type="button"
      className="button"
      onClick={(event) => event.currentTarget.closest("dialog")?.close()}
    >
      Close
    </button>
  );
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
