import { type ReactNode, type RefObject, useState } from "react";
import { t } from "../text/text.ts";
import type { HelpDialog } from "./HelpDialogs.tsx";
import { type KeyBinding, useKeys } from "./keys.ts";
import { openPalette, pageKeys } from "./page-keys.ts";

/** The script of the dialogs, loaded after the screen's. */
export const loadHelpDialogs = () => import("./HelpDialogs.tsx");

/**
 * The help and settings buttons of every screen. `more`: actions that do not fit on a narrow screen; there, a single button opens
 * a dialog with all of them.
 */
export function HelpAndSettings({
  bindings,
  more,
  pane,
}: {
  bindings: readonly KeyBinding[];
  more?: ReactNode;
  /** The pane that the keys belong to, if several are side by side. */
  pane?: RefObject<HTMLElement | null>;
}): ReactNode {
  const [open, setOpen] = useState<{ shown: HelpDialog } & Awaited<ReturnType<typeof loadHelpDialogs>>>();
  /**
   * If the script cannot be fetched, nothing opens, and the next click tries again: the page already shows that it is
   * disconnected.
   */
  const show = (shown: HelpDialog): void =>
    void loadHelpDialogs().then(
      (dialogs) => setOpen({ shown, ...dialogs }),
      () => {},
    );
  const own: KeyBinding[] = [
    { keys: ["?"], label: t.keys.title, run: () => show("keys") },
    { keys: [","], label: t.app.settings, run: () => show("settings") },
  ];
  useKeys(own, pane);
  const wide = more === undefined ? "button" : "button if-wide";
  return (
    <span className="tools">
      {more === undefined && (
        <button type="button" className="button" aria-haspopup="dialog" onClick={openPalette}>
          {t.palette.button}
        </button>
      )}
      <button type="button" className={wide} onClick={() => show("keys")} aria-label={t.keys.title}>
        ?
      </button>
      <button type="button" className={wide} onClick={() => show("settings")}>
        {t.app.settings}
      </button>
      {more !== undefined && (
        <button
          type="button"
          className="button if-narrow"
          aria-haspopup="dialog"
          onClick={() => show("more")}
        >
          {t.app.more}
        </button>
      )}
      {open !== undefined && (
        <open.HelpDialogs
          shown={open.shown}
          bindings={[...bindings, ...own, ...pageKeys()]}
          more={more}
          onShow={show}
          onClose={(closed) => setOpen((now) => (now?.shown === closed ? undefined : now))}
        />
      )}
    </span>
  );
}
