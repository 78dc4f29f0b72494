import { type RefObject, useLayoutEffect, useRef } from "react";
import { t } from "../text/text.ts";
import { isComposing } from "../ui/composing.ts";

/** A key binding, listed in the help. `keys`: alternatives, named as in `KeyboardEvent.key`; `Ctrl+f` also matches ⌘F. */
export interface KeyBinding {
  readonly keys: readonly string[];
  readonly label: string;
  /** Active only while nothing is focused; otherwise the key does what it does in the browser. */
  readonly unfocused?: true;
  /** Not listed in the palette: useful only as a key. */
  readonly keyOnly?: boolean;
  run(): void;
}

const NAMES: Readonly<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",

  "Ctrl+F": "Ctrl+Shift+F",
  "Ctrl+k": "Ctrl+K",
};
/** The label of a key, as the page shows it. */
export const keyLabel = (key: string): string => NAMES[key] ?? key.replace(/ $/, t.keys.space);

/** Whether keys pressed on `target` are text input. */
export const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=button])"));

function keyName(event: KeyboardEvent): string {
  const control = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  const alt = event.altKey ? "Alt+" : "";
  const key = latinKey(event);
  // Shift is implied by the character (`E`, `?`), except for space and for keys without a character.
  const shift = event.shiftKey && (key.length > 1 || key === " ") ? "Shift+" : "";
  return control + alt + shift + key;
}

/**
 * The character or the name of a key. On a keyboard with another script: the Latin letter at the same position. Caps Lock is
 * ignored: only Shift makes a letter upper case.
 */
function latinKey({ key, code, shiftKey }: KeyboardEvent): string {
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  const latin = letter !== undefined && /^\P{ASCII}+$/u.test(key) ? letter : key;
  if (latin.length > 1) return latin;
  return shiftKey ? latin.toUpperCase() : latin.toLowerCase();
}

interface KeyUser {
  bindings: readonly KeyBinding[];
  readonly pane: RefObject<HTMLElement | null> | undefined;
}
/** All mounted components with key bindings. */
const users = new Set<KeyUser>();

/** The bindings that the palette lists: those that apply to the current focus, the screen's before the page's. */
export function commandBindings(): KeyBinding[] {
  return [...users]
    .filter(({ pane }) => pane === undefined || (pane.current !== null && holdsKeys(pane.current)))
    .flatMap(({ bindings }) => bindings)
    .filter(({ unfocused, keyOnly }) => unfocused !== true && keyOnly !== true);
}

/** Whether a pane contains the focus or, if none does, is the first visible one. */
function holdsKeys(pane: HTMLElement): boolean {
  const panes = [...document.querySelectorAll<HTMLElement>(".pane")].filter((one) => one.clientHeight > 0);
  return (panes.find((one) => one.contains(document.activeElement)) ?? panes[0]) === pane;
}

/**
 * Registers the key bindings of a screen, or of one of several panes. They are inactive while a dialog is open and, except for
 * those with Ctrl, while the user is typing.
 */
export function useKeys(bindings: readonly KeyBinding[], pane?: RefObject<HTMLElement | null>): void {
  const user = useRef<KeyUser>({ bindings, pane });
  // Layout effects, because a key that is pressed before the other effects run would be lost.
  useLayoutEffect(() => {
    user.current.bindings = bindings;
  });
  useLayoutEffect(() => {
    const own = user.current;
    users.add(own);
    return () => {
      users.delete(own);
    };
  }, []);
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || isComposing(event)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (pane !== undefined && (pane.current === null || !holdsKeys(pane.current))) return;
      const name = keyName(event);
      if (isTextField(event.target) && !name.startsWith("Ctrl+")) return;
      const free = event.target === document.body;
      const binding = user.current.bindings.find(
        ({ keys, unfocused }) => keys.includes(name) && (free || unfocused !== true),
      );
      if (binding === undefined) return;
      event.preventDefault();
      binding.run();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [pane]);
}
