import { type ReactNode, useEffect, useState } from "react";
import { t } from "../text/text.ts";

/** How far a copy is. */
type Progress = "copying" | "copied" | "notCopied" | "notLoaded";

/** Copies text that is produced only when asked for. Says that it does and, for two seconds, what became of it. */
export function CopyButton({
  text,
  label = t.common.copy,
  name,
}: {
  text: () => string | Promise<string>;
  label?: ReactNode;
  /** Says what it copies where the label and the place do not; begins with the label. */
  name?: string;
}): ReactNode {
  const [said, setSaid] = useState<Progress>();
  useEffect(() => {
    if (said === undefined || said === "copying") return;
    const timer = setTimeout(() => setSaid(undefined), 2_000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    if (said === "copying") return;
    setSaid("copying");
    const loaded = (async () => text())();
    setSaid(
      await write(loaded).then<Progress, Progress>(
        () => "copied",
        () =>
          loaded.then<Progress, Progress>(
            () => "notCopied",
            () => "notLoaded",
          ),
      ),
    );
  };
  const told = said && t.common[said];
  return (
    <button
      type="button"
      className="action"
      {...(name === undefined ? {} : { "aria-label": told ?? name, title: name })}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{told ?? label}</span>
    </button>
  );
}

/** Safari lets a page write only within the click itself: there the clipboard is promised what is still being loaded. */
async function write(text: Promise<string>): Promise<void> {
  if (globalThis.ClipboardItem === undefined) return navigator.clipboard.writeText(await text);
  const blob = text.then((loaded) => new Blob([loaded], { type: "text/plain" }));
  return navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
}
