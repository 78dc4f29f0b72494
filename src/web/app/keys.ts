import { type RefObject, useEffect, useRef } from "react";
import { t } from "../text/text.ts";
import { composing } from "../ui/composing.ts";

/** What a key does, as the help lists it. `keys`: any of them, in `KeyboardEvent.key` names; `Ctrl+f` also means ⌘F. */
export interface KeyBinding {
  readonly keys: readonly string[];
  readonly does: string;
  /** Only while nothing has the focus: the browser's own meaning of the key goes first. */
  readonly unfocused?: true;
  /** Means something as a key alone: the palette does not list it. */
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
/** How a key of a binding is written on the page. */
export const keyLabel = (key: string): string => NAMES[key] ?? key.replace(/ $/, t.keys.space);

/** Whether keys that are pressed there are written. */
export const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=button])"));

function keyName(event: KeyboardEvent): string {
  const control = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  const alt = event.altKey ? "Alt+" : "";
  const key = latinKey(event);
  // Shift shows in the character itself (`E`, `?`), not in a space and not in the name of a key that has none.
  const shift = event.shiftKey && (key.length > 1 || key === " ") ? "Shift+" : "";
  return control + alt + shift + key;
}

/**
 * What a key writes or is called; where letters of another script stand on the keyboard, the Latin one of that place. A
 * letter is a capital by Shift alone: a Caps Lock that was left on makes no other key of it.
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
/** Everything on screen that has keys. */
const users = new Set<KeyUser>();

/** What keys do now, where the focus is, as the palette lists it; the screen's before the page's. */
export function commandBindings(): KeyBinding[] {
  return [...users]
    .filter(({ pane }) => pane === undefined || (pane.current !== null && holdsKeys(pane.current)))
    .flatMap(({ bindings }) => bindings)
    .filter(({ unfocused, keyOnly }) => unfocused !== true && keyOnly !== true);
}

/** Whether a pane has the focus or, where none has it, is the first that is on screen. */
function holdsKeys(pane: HTMLElement): boolean {
  const panes = [...document.querySelectorAll<HTMLElement>(".pane")].filter((one) => one.clientHeight > 0);
  return (panes.find((one) => one.contains(document.activeElement)) ?? panes[0]) === pane;
}

/**
 * Keys of a screen, or of a pane where several stand side by side. They rest while a dialog is open, and while one types
 * (those with Ctrl stay).
 */
export function useKeys(bindings: readonly KeyBinding[], pane?: RefObject<HTMLElement | null>): void {
  const user = useRef<KeyUser>({ bindings, pane });
  useEffect(() => {
    user.current.bindings = bindings;
  });
  useEffect(() => {
    const own = user.current;
    users.add(own);
    return () => {
      users.delete(own);
    };
  }, []);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || composing(event)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (pane !== undefined && (pane.current === null || !holdsKeys(pane.current))) return;
      const name = keyName(event);
      if (typing(event.target) && !name.startsWith("Ctrl+")) return;
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
