import { type ReactNode, useCallback, useEffect, useState } from "react";
import { t } from "../text/text.ts";
import { onFilesChosen } from "./file-chooser.ts";
import type { ChosenFiles } from "./opened-files.ts";
import { navigate, sessionHref } from "./router.ts";
import { useClient } from "./store.ts";
import "./open-files.css";

/** Loaded on first use. */
const loadOpened = () => import("./OpenedDialog.tsx");
type OpenedModule = Awaited<ReturnType<typeof loadOpened>>;

/** `showing`: a dialog shows a problem, or several sessions to choose from. */
type State =
  | { is: "idle" | "dragging" | "opening" }
  | {
      is: "showing";
      opened: Awaited<ReturnType<OpenedModule["openFiles"]>>;
      Dialog: OpenedModule["OpenedDialog"];
    };

const IDLE: State = { is: "idle" };

/** Opens session files that are dropped on the page or chosen in a file dialog. They are not stored. */
export function OpenFiles(): ReactNode {
  const client = useClient();
  const [state, setState] = useState<State>(IDLE);
  const close = useCallback(() => setState(IDLE), []);

  const open = useCallback(
    async (given: ChosenFiles): Promise<void> => {
      setState({ is: "opening" });
      // If the script cannot be fetched, the page already shows that it is disconnected.
      const loaded = await loadOpened().catch(() => undefined);
      if (loaded === undefined) return setState(IDLE);
      const opened = await loaded.openFiles(client, given);
      const [session, ...others] = "problem" in opened ? [] : loaded.topSessions(opened);
      const isClear = others.length === 0 && !("problem" in opened) && opened.problems.length === 0;
      if (session === undefined || !isClear)
        return setState({ is: "showing", opened, Dialog: loaded.OpenedDialog });
      setState(IDLE);
      navigate(sessionHref(session.id));
    },
    [client],
  );
  const setDragging = useCallback((isOver: boolean) => {
    setState((before) => {
      if (before.is === "idle" && isOver) return { is: "dragging" };
      return before.is === "dragging" && !isOver ? IDLE : before;
    });
  }, []);
  useFileDrop(setDragging, open);
  useEffect(() => onFilesChosen((files) => void open({ files })), [open]);

  return (
    <>
      <p className="unseen" role="status">
        {state.is === "opening" && t.opened.opening}
      </p>
      {(state.is === "dragging" || state.is === "opening") && (
        <div className="drop-zone" aria-hidden="true">
          <p>{state.is === "dragging" ? t.opened.drop : t.opened.opening}</p>
        </div>
      )}
      {state.is === "showing" && <state.Dialog opened={state.opened} onClose={close} />}
    </>
  );
}

/** Handles files that are dragged over the page, except those that an element handles itself, such as images in the composer. */
function useFileDrop(
  setDragging: (isOver: boolean) => void,
  open: (given: ChosenFiles) => Promise<void>,
): void {
  useEffect(() => {
    const isFree = (): boolean => document.querySelector("dialog[open]") === null;
    const over = (event: DragEvent): void => {
      if (event.dataTransfer === null || !event.dataTransfer.types.includes("Files")) return;
      const isTaken = event.defaultPrevented;
      setDragging(!isTaken && isFree());
      if (isTaken) return;
      // Otherwise the browser would navigate to the file.
      event.preventDefault();
      event.dataTransfer.dropEffect = isFree() ? "copy" : "none";
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setDragging(false);
    };
    const drop = (event: DragEvent): void => {
      setDragging(false);
      const { dataTransfer } = event;
      if (event.defaultPrevented || dataTransfer === null || !dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      if (!isFree()) return;
      // Read now: the list is emptied after the event. A drag created by a script has only `files`.
      const entries = [...dataTransfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
      void open(entries.length > 0 ? { entries } : { files: [...dataTransfer.files] });
    };
    window.addEventListener("dragover", over);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, [setDragging, open]);
}
