import { type RefObject, useRef, useState } from "react";
import { positionOf } from "../../../model/transcript/accumulate.ts";
import type { Transcript } from "../../../model/transcript/transcript-state.ts";
import { isTextField } from "../../app/keys.ts";
import { navigate, sessionHref } from "../../app/router.ts";
import type { FindStart } from "./Find.tsx";
import { rowOf } from "./pane-focus.ts";
import type { PaneProps } from "./pane-props.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";

/** The state of a pane's find bar. Restores the focus when the bar is closed. */
export interface PaneFind {
  readonly isOpen: boolean;
  /** How the bar was opened: with the search in the address, or by the user. `count`: changes with each opening. */
  readonly opening: { readonly start?: FindStart; readonly count: number };
  readonly input: RefObject<HTMLInputElement | null>;
  /** The text that is searched for. Empty: none. */
  readonly text: string;
  setText(text: string): void;
  open(): void;
  /** Opens the bar with the texts in the address. */
  openAt(start: FindStart): void;
  /** Call when find has scrolled to a row. */
  onScrolledTo(row: string | undefined): void;
  close(): void;
}

export function usePaneFind(
  { session_id, fragment, beside, find }: PaneProps,
  scroller: RefObject<ScrollerHandle | null>,
  transcript: Transcript | undefined,
): PaneFind {
  const input = useRef<HTMLInputElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const [text, setText] = useState("");
  const [opening, setOpening] = useState<{ start?: FindStart; count: number }>({ count: 0 });
  /** The field that the user was typing in when the bar was opened, and the row that find scrolled to last. */
  const openedFrom = useRef<{ field: Element | null; row?: string | undefined }>({ field: null });
  return {
    isOpen,
    opening,
    input,
    text,
    setText,
    open() {
      const { activeElement } = document;
      if (!isOpen) {
        openedFrom.current = { field: isTextField(activeElement) ? activeElement : null };
        setOpening(({ count }) => ({ count: count + 1 }));
      }
      setIsOpen(true);
      input.current?.focus();
      input.current?.select();
    },
    openAt(start) {
      setIsOpen(true);
      setOpening(({ count }) => ({ start, count: count + 1 }));
    },
    onScrolledTo(row) {
      openedFrom.current = { ...openedFrom.current, row };
    },
    close() {
      setIsOpen(false);
      // Otherwise a reload would open the bar again.
      if (find.length > 0) navigate(sessionHref(session_id, fragment, beside), "replace");
      const { field, row } = openedFrom.current;
      const at = transcript && row !== undefined ? positionOf(transcript, row) : undefined;
      const found = row !== undefined && at !== undefined && scroller.current?.shows(at) ? rowOf(row) : null;
      if (field instanceof HTMLElement && field.isConnected) field.focus();
      else if (found !== null) found.focus({ preventScroll: true });
      else scroller.current?.focus();
    },
  };
}
