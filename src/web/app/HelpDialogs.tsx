import "../text/screens-text.ts";
import { type ReactNode, useState } from "react";
import { t } from "../text/text.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { AnswerSettings } from "./AnswerSettings.tsx";
import { AttachSettings } from "./AttachSettings.tsx";
import { type KeyBinding, keyLabel } from "./keys.ts";
import { PushChoice } from "./PushChoice.tsx";
import { RULES } from "./router.ts";
import { SourceSettings } from "./SourceSettings.tsx";
import type { NotifyOf, Settings } from "./settings.ts";
import { useSetting } from "./store.ts";
import "./help-dialogs.css";

export type HelpDialog = "keys" | "settings" | "more";

/** The dialogs that `HelpAndSettings` opens. */
export function HelpDialogs({
  shown,
  bindings,
  more,
  onShow,
  onClose,
}: {
  shown: HelpDialog;
  bindings: readonly KeyBinding[];
  more: ReactNode;
  onShow(shown: HelpDialog): void;
  onClose(closed: HelpDialog): void;
}): ReactNode {
  const close = (): void => onClose(shown);
  switch (shown) {
    case "keys":
      return (
        <Dialog key={shown} title={t.keys.title} onClose={close}>
          <dl className="binding-list">
            {bindings.map(({ keys, label }) => (
              <div key={label}>
                <dt>
                  {keys.map((key) => (
                    <kbd key={key}>{keyLabel(key)}</kbd>
                  ))}
                </dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      );
    case "settings":
      return (
        <Dialog key={shown} title={t.app.settings} onClose={close}>
          <Choice
            name="theme"
            label={t.settings.theme}
            options={[
              ["system", t.settings.system],
              ["dark", t.settings.dark],
              ["light", t.settings.light],
            ]}
          />
          <Choice
            name="density"
            label={t.settings.density}
            options={[
              ["comfortable", t.settings.comfortable],
              ["compact", t.settings.compact],
            ]}
          />
          <Choice
            name="thinking"
            label={t.settings.thinking}
            options={[
              ["open-while-live", t.settings.whileStreaming],
              ["closed", t.settings.closed],
              ["open", t.settings.open],
            ]}
          />
          <Choice
            name="times"
            label={t.settings.times}
            options={[
              ["clock", t.settings.clock],
              ["elapsed", t.settings.elapsed],
            ]}
          />
          <Choice
            name="rows"
            label={t.settings.rows}
            options={[
              ["readable", t.settings.readable],
              ["every", t.settings.everyRecord],
            ]}
          />
          <NotifyChoice />
          <p className="choice">
            <a href={RULES}>{t.keys.rules}</a>
          </p>
          <Choice
            name="language"
            label={t.settings.language}
            options={[
              ["system", t.settings.system],
              ["en", "English"],
              ["zh", "中文"],
            ]}
            onChoose={() => location.reload()}
          />

          <Switch name="showSteps" label={t.settings.steps} />
          <p className="dialog-note">{t.settings.saved}</p>
          <SourceSettings />
          <AttachSettings />
          <AnswerSettings />
        </Dialog>
      );
    case "more":
      return (
        <Dialog key={shown} title={t.settings.thisSession} onClose={close}>
          {/* biome-ignore lint/a11y: only clicks on links and buttons matter, and those handle keys themselves */}
          <div
            onClick={({ target, currentTarget }) => {
              // The chosen action affects the page below the dialog.
              if (target instanceof Element && target.closest("a, button") !== null)
                currentTarget.closest("dialog")?.close();
            }}
          >
            {more}
            <p className="dialog-buttons">
              <button type="button" className="button" onClick={() => onShow("settings")}>
                {t.app.settings}
              </button>
              <button type="button" className="button" onClick={() => onShow("keys")}>
                {t.keys.title}
              </button>
            </p>
          </div>
        </Dialog>
      );
  }
  return shown satisfies never;
}

function Choice<Name extends "theme" | "thinking" | "times" | "rows" | "density" | "language">({
  name,
  label,
  options,
  onChoose,
}: {
  name: Name;
  label: string;
  options: readonly (readonly [Settings[Name], string])[];
  onChoose?(option: Settings[Name]): void;
}): ReactNode {
  const [value, setValue] = useSetting(name);
  return (
    <Radios
      name={name}
      label={label}
      options={options}
      value={value}
      onChoose={(option) => {
        setValue(option);
        onChoose?.(option);
      }}
    />
  );
}

function Radios<Option extends string>({
  name,
  label,
  options,
  value,
  onChoose,
}: {
  name: string;
  label: string;
  options: readonly (readonly [Option, string])[];
  value: Option;
  onChoose(option: Option): void;
}): ReactNode {
  return (
    <fieldset className="choice">
      <legend>{label}</legend>
      {options.map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={name} checked={value === option} onChange={() => onChoose(option)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

/**
 * The notification setting. Browsers ask the user for permission only after a click. Until the user decides, the choice is shown
 * but not stored; without permission the setting is "off".
 */
function NotifyChoice(): ReactNode {
  const [notify, setNotify] = useSetting("notify");
  const [asking, setAsking] = useState<NotifyOf>();
  const [problem, setProblem] = useState<string>();
  const choose = async (of: NotifyOf): Promise<void> => {
    setAsking(of);
    const refusal = of === "off" ? undefined : await refusalOf();
    setProblem(refusal);
    setNotify(refusal === undefined ? of : "off");
    setAsking(undefined);
  };
  return (
    <>
      <Radios
        name="notify"
        label={t.settings.notify}
        options={[
          ["off", t.settings.off],
          ["waiting", t.settings.notifyWaiting],
          ["all", t.settings.notifyAll],
        ]}
        value={asking ?? notify}
        onChoose={(of) => void choose(of)}
      />
      <p className="dialog-problem" role="status">
        {problem}
      </p>
      <PushChoice />
    </>
  );
}

/** Asks for permission to show notifications. Returns why it was not granted. */
async function refusalOf(): Promise<string | undefined> {
  if (!("Notification" in globalThis)) return t.settings.cannotNotify;
  try {
    return (await Notification.requestPermission()) === "granted" ? undefined : t.settings.blockedNotify;
  } catch {
    return t.settings.cannotNotify;
  }
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
