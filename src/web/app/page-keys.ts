import { createStore } from "zustand/vanilla";
import { t } from "../text/text.ts";
import { commandBindings, type KeyBinding } from "./keys.ts";
import { navigate, RULES, searchHref, USAGE_DAYS, usageHref } from "./router.ts";

/** State of the command palette. `bindings`: the key bindings at the time it was opened; absent: it is closed. */
export const palette = createStore<{ readonly bindings?: readonly KeyBinding[] }>(() => ({}));

export const openPalette = (): void => palette.setState({ bindings: commandBindings() }, true);
export const closePalette = (): void => palette.setState({}, true);

/** Key bindings of every screen. */
export const pageKeys = (): readonly KeyBinding[] => [
  { keys: ["Ctrl+k"], label: t.palette.key, keyOnly: true, run: openPalette },
  { keys: ["$"], label: t.keys.usage, run: () => navigate(usageHref({ by: "day", days: USAGE_DAYS })) },
  { keys: ["R"], label: t.keys.rules, run: () => navigate(RULES) },
  { keys: ["Ctrl+F"], label: t.keys.search, keyOnly: true, run: () => navigate(searchHref("")) },
];
