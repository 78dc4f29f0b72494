import "../../text/screens-text.ts";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import { type KeyBinding, keyLabel } from "../../app/keys.ts";
import { openSession } from "../../app/open-session.ts";
import { navigate } from "../../app/router.ts";
import { useClient } from "../../app/store.ts";
import { t } from "../../text/text.ts";
import { isComposing } from "../../ui/composing.ts";
import { markedText } from "../../ui/marked-text.tsx";
import {
  commandEntries,
  newSessionsGroup,
  type PaletteGroup,
  type PaletteSources,
  paletteGroups,
  promptEntries,
} from "./entries.ts";
import { useListedSessions } from "./use-listed-sessions.ts";
import "./palette.css";

/** How many options PageUp and PageDown move by. */
const PAGE = 8;

interface Props {
  /** The key bindings of the screen when the palette opened. */
  bindings: readonly KeyBinding[];
  /** The session on screen. */
  session_id: string | undefined;
  onClose(): void;
}

/** The command palette: a combobox over sessions, prompts, screens and key bindings, in a dialog. */
export function Palette({ bindings, session_id, onClose }: Props): ReactNode {
  const client = useClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState("");
  const [selected, setSelected] = useState(0);
  const list = useId();
  const listed = useListedSessions(session_id);
  // Not updated while the palette is open, so that nothing moves under the selection.
  const [others] = useState<Omit<PaletteSources, "sessions">>(() => ({
    prompts:
      session_id === undefined
        ? []
        : promptEntries(session_id, openSession(client, session_id).state.getState().transcript),
    commands: commandEntries(bindings, client.settings.getState(), (patch) =>
      client.settings.setState({ ...client.settings.getState(), ...patch }),
    ),
  }));
  const groups = useMemo(
    () => [
      ...paletteGroups({ ...others, sessions: listed.sessions }, query),
      ...newSessionsGroup(listed.added, query),
    ],
    [others, listed.sessions, listed.added, query],
  );
  const entries = groups.flatMap((group) => group.entries);
  const optionId = (index: number): string => `${list}-${index}`;

  useEffect(() => {
    const element = dialog.current;
    // Not earlier, because closing the dialog restores the focus that was current when it opened.
    if (element?.open === false) {
      element.showModal();
      element.querySelector("input")?.focus();
    }
    return () => element?.close();
  }, []);

  function choose(index: number): void {
    const action = entries[index]?.action;
    if (action === undefined) return;
    // Restore the focus first, because the action may use or change it.
    dialog.current?.close();
    onClose();
    if ("href" in action) navigate(action.href);
    else action.run();
  }

  function select(index: number): void {
    const next = Math.min(Math.max(index, 0), entries.length - 1);
    setSelected(next);
    document.getElementById(optionId(next))?.scrollIntoView({ block: "nearest" });
  }

  function press(event: KeyboardEvent<HTMLInputElement>): void {
    if (isComposing(event.nativeEvent)) return;
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: selected + 1 < entries.length ? selected + 1 : 0,
      ArrowUp: selected > 0 ? selected - 1 : entries.length - 1,
      PageDown: selected + PAGE,
      PageUp: selected - PAGE,
    };
    const next = Object.hasOwn(targets, event.key) ? targets[event.key] : undefined;
    if (next !== undefined) {
      event.preventDefault();
      select(next);
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose(selected);
    } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      dialog.current?.close();
    }
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop closes the dialog, as Escape does
    <dialog
      ref={dialog}
      className="palette"
      aria-label={t.palette.title}
      onClose={({ currentTarget }) => {
        // The event is asynchronous: the dialog may have been opened again.
        if (!currentTarget.open) onClose();
      }}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget) currentTarget.close();
      }}
    >
      <div className="palette-box">
        <input
          type="text"
          className="filter"
          role="combobox"
          aria-label={t.palette.title}
          aria-expanded="true"
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={optionId(selected)}
          placeholder={t.palette.placeholder}
          autoComplete="off"
          spellCheck={false}
          value={query}
          onChange={(event) => {
            listed.refresh();
            setQuery(event.target.value);
            setSelected(0);
          }}
          onKeyDown={press}
        />
        <div id={list} role="listbox" aria-label={t.palette.title} className="palette-list">
          {groups.map((group, at) => (
            <Group
              key={group.id}
              group={group}
              first={groups.slice(0, at).reduce((sum, { entries }) => sum + entries.length, 0)}
              selected={selected}
              optionId={optionId}
              onChoose={choose}
            />
          ))}
        </div>
      </div>
    </dialog>
  );
}

function Group({
  group,
  first,
  selected,
  optionId,
  onChoose,
}: {
  group: PaletteGroup;
  /** Index of the group's first option among all options. */
  first: number;
  selected: number;
  optionId(index: number): string;
  onChoose(index: number): void;
}): ReactNode {
  const heading = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of options, not of fields
    <div role="group" aria-labelledby={heading} className={`palette-group palette-${group.id}`}>
      <div id={heading} className="palette-heading" role="presentation">
        {group.title}
      </div>
      {group.entries.map((entry, at) => {
        const index = first + at;
        return (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
          <div
            key={entry.id}
            id={optionId(index)}
            role="option"
            aria-selected={index === selected}
            className="palette-entry"
            // The field keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(index)}
          >
            <span className="palette-title">{markedText(entry.title, entry.ranges)}</span>{" "}
            {entry.details !== "" && (
              <span className="palette-details">{visibleText(entry.details, "prose")}</span>
            )}{" "}
            {entry.key !== undefined && <kbd>{keyLabel(entry.key)}</kbd>}
          </div>
        );
      })}
    </div>
  );
}
