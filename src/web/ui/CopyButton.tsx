import { type ReactNode, useEffect, useState } from "react";

/** Copies text that is produced only when asked for. Says for two seconds what became of it. */
export function CopyButton({
  text,
  label = "Copy",
  className = "action",
}: {
  text: () => string | Promise<string>;
  label?: string;
  className?: string;
}): ReactNode {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), 2_000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    let loaded: string;
    try {
      loaded = await text();
    } catch {
      setSaid("Not loaded");
      return;
    }
    try {
      await navigator.clipboard.writeText(loaded);
      setSaid("Copied");
    } catch {
      setSaid("Not copied");
    }
  };
  return (
    <button type="button" className={className} onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}
