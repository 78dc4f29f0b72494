import type { ReactNode } from "react";

/** A button of a session's header. */
export interface PaneTool {
  name: string;
  run(): void;
  /**
   * Which panes show the button in the header: `all`; `wide`: all except narrow ones; `widest`: only the widest. In other panes, and
   * always for `more`, it is in the dialog under "More".
   */
  room: "all" | "wide" | "widest" | "more";
  opensDialog?: boolean;
  /** Whether what the button opens is open. */
  isOpen?: boolean;
  isDisabled?: boolean;
  /** Loads the script of the view that the button opens. */
  load?(): Promise<void>;
  /** Shown after the name if there is room. */
  detail?: string;
}

const CLASSES = { all: "button", wide: "button if-wide", widest: "button if-wide if-widest" } as const;

/** The buttons in a session's header, as far as it has room for them. */
export function PaneTools({ tools }: { tools: readonly PaneTool[] }): ReactNode {
  return tools.map(({ name, run, room, opensDialog, isOpen, isDisabled, load, detail }) =>
    room === "more" ? null : (
      <button
        key={name}
        type="button"
        className={CLASSES[room]}
        aria-haspopup={opensDialog ? "dialog" : undefined}
        aria-expanded={isOpen}
        disabled={isDisabled}
        onClick={run}
        onPointerEnter={load}
        onFocus={load}
      >
        {name}
        {detail !== undefined && <span className="if-wide">{detail}</span>}
      </button>
    ),
  );
}

/** The buttons that may not fit in the header, for the dialog under "More". */
export function MoreTools({ tools }: { tools: readonly PaneTool[] }): ReactNode {
  return (
    <p className="dialog-buttons">
      {tools
        .filter(({ room }) => room !== "all")
        .map(({ name, run }) => (
          <button key={name} type="button" className="button" onClick={run}>
            {name}
          </button>
        ))}
    </p>
  );
}
