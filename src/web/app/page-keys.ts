import { createStore } from "zustand/vanilla";
import { t } from "../text/text.ts";
import { commandBindings, type KeyBinding } from "./keys.ts";
import { navigate, RULES, searchHref, USAGE_DAYS, usageHref } from "./router.ts";

/** The command palette, open over any screen: `bindings` are the keys as they were when it opened. Absent: it is closed. */
export const palette = createStore<{ readonly bindings?: readonly KeyBinding[] }>(() => ({}));

export const openPalette = (): void => palette.setState({ bindings: commandBindings() }, true);
export const closePalette = (): void => palette.setState({}, true);

/** Keys of every screen. */
export const pageKeys = (): readonly KeyBinding[] => [
  { keys: ["Ctrl+k"], does: t.palette.key, keyOnly: true, run: openPalette },
  { keys: ["$"], does: t.keys.usage, run: () => navigate(usageHref({ by: "day", days: USAGE_DAYS })) },
  { keys: ["R"], does: t.keys.rules, run: () => navigate(RULES) },
  { keys: ["Ctrl+F"], does: t.keys.search, keyOnly: true, run: () => navigate(searchHref("")) },
];
