import { type ReactNode, useState } from "react";
import { t } from "../text/text.ts";
import { canPush, subscribePush, unsubscribePush } from "./push.ts";
import { useClient, useSetting } from "./store.ts";

/** Enables push messages: notifications that arrive while no page is open. Requires `notify` to be on. */
export function PushChoice(): ReactNode {
  const client = useClient();
  const [of] = useSetting("notify");
  const [isOn, setOn] = useSetting("push");
  const [problem, setProblem] = useState<string>();
  if (of === "off" && !isOn) return null;

  const change = async (wanted: boolean): Promise<void> => {
    setProblem(undefined);
    // Shown immediately: a switch disabled during the request would lose the focus.
    setOn(wanted);
    const found = wanted && of !== "off" ? await subscribePush(client, of) : await unsubscribePush(client);
    setProblem(found);
    if (wanted && found !== undefined) setOn(false);
  };
  return (
    <>
      <label className="choice">
        <input
          type="checkbox"
          checked={isOn}
          disabled={!canPush()}
          onChange={(event) => void change(event.target.checked)}
        />
        {t.settings.push}
      </label>
      <p className="dialog-note">{t.settings.pushNote}</p>
      <p className="dialog-problem" role="status">
        {problem}
      </p>
    </>
  );
}
