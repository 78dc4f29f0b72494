import { type ReactNode, useEffect, useState } from "react";
import { t } from "../text/text.ts";
import "./action.css";

/** The state of copying. */
type Progress = "copying" | "copied" | "notCopied" | "notLoaded";

/** Button that copies text, which is created on demand. Shows the progress and, for two seconds, the result. */
export function CopyButton({
  text,
  label = t.common.copy,
  name,
}: {
  text: () => string | Promise<string>;
  label?: ReactNode | undefined;
  /** Accessible name, if the label is not sufficient. It must begin with the label. */
  name?: string;
}): ReactNode {
  const [progress, setProgress] = useState<Progress>();
  useEffect(() => {
    if (progress === undefined || progress === "copying") return;
    const timer = setTimeout(() => setProgress(undefined), 2_000);
    return () => clearTimeout(timer);
  }, [progress]);
  const copy = async (): Promise<void> => {
    if (progress === "copying") return;
    setProgress("copying");
    const loaded = (async () => text())();
    setProgress(
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
  const progressText = progress && t.common[progress];
  return (
    <button
      type="button"
      className="action"
      {...(name === undefined ? {} : { "aria-label": progressText ?? name, title: name })}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{progressText ?? label}</span>
    </button>
  );
}

/** Safari allows access to the clipboard only during the click, so it gets a promise of text that may still be loading. */
async function write(text: Promise<string>): Promise<void> {
  if (globalThis.ClipboardItem === undefined) return navigator.clipboard.writeText(await text);
  const blob = text.then((loaded) => new Blob([loaded], { type: "text/plain" }));
  return navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
}
