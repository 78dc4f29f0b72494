import { type ReactNode, useEffect, useId, useRef } from "react";
import { t } from "../text/text.ts";

/** A modal dialog that is open while it is mounted. Esc and its Close button close it. */
export function Dialog({
  title,
  onClose,
  className = "",
  children,
}: {
  title: string;
  className?: string;
  onClose(): void;
  children: ReactNode;
}): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element?.open === false) {
      element.showModal();
      // By default the first button has the focus, so that Enter would press it.
      element.focus();
      // The browser has already scrolled to that button, which may be at the end of a long dialog.
      element.scrollTop = 0;
    }
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={`dialog ${className}`.trim()}
      tabIndex={-1}
      aria-labelledby={heading}
      onClose={({ currentTarget }) => {
        // The event is asynchronous: in React's strict mode, which mounts twice, the dialog is open again by the time it fires.
        if (!currentTarget.open) onClose();
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children}
      <button type="button" className="button" onClick={() => dialog.current?.close()}>
        {t.common.close}
      </button>
    </dialog>
  );
}
