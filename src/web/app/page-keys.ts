import { createStore } from "zustand/vanilla";
import { en } from "../text/en.ts";
import { commandBindings, type KeyBinding } from "./keys.ts";
import { navigate, searchHref, USAGE_DAYS, usageHref } from "./router.ts";

/** The command palette, open over any screen: `bindings` are the keys as they were when it opened. Absent: it is closed. */
export const palette = createStore<{ readonly bindings?: readonly KeyBinding[] }>(() => ({}));

export const openPalette = (): void => palette.setState({ bindings: commandBindings() }, true);
export const closePalette = (): void => palette.setState({}, true);

/** Keys of every screen. */
export const PAGE_KEYS: readonly KeyBinding[] = [
  { keys: ["Ctrl+k"], does: en.palette.key, keyOnly: true, run: openPalette },
  { keys: ["$"], does: en.usage.key, run: () => navigate(usageHref({ by: "day", days: USAGE_DAYS })) },
  { keys: ["Ctrl+F"], does: en.search.key, keyOnly: true, run: () => navigate(searchHref("")) },
];
