import { createStore, type StoreApi } from "zustand/vanilla";

/** What to notify of: nothing, sessions that wait for the user, or also sessions that failed or finished. */
export type NotifyOf = "off" | "waiting" | "all";

/** The columns that the list can be sorted by. */
export const LIST_COLUMNS = ["turns", "tools", "errors", "tokens", "active"] as const;
export type ListColumn = (typeof LIST_COLUMNS)[number];
/** `down`: highest value first. */
export type ListSort = "none" | `${ListColumn} ${"down" | "up"}`;

/** The user's settings, stored in this browser. */
export interface Settings {
  readonly theme: "system" | "dark" | "light";
  /** Takes effect after a reload. */
  readonly language: "system" | "en" | "zh";
  /** Density of the rows in the list and in transcripts. */
  readonly density: "comfortable" | "compact";
  readonly thinking: "open" | "closed" | "open-while-live";
  readonly showSteps: boolean;
  /** `readable`: records without content of their own are folded into an adjacent row. */
  readonly rows: "readable" | "every";
  readonly times: "clock" | "elapsed";
  readonly groupBy: "project" | "time";
  /** The order within the groups of the list. */
  readonly sort: ListSort;
  /** Keys of the folded groups of the list, in the order in which they were folded. */
  readonly folded: readonly string[];
  readonly outline: boolean;
  /** Whether the attention list is expanded. */
  readonly attention: boolean;
  readonly notify: NotifyOf;
  /** Whether this browser also receives notifications when no page is open. */
  readonly push: boolean;
  /** Whether the timeline is shown above the transcript. */
  readonly lanes: boolean;
}

/** public/first-paint.js reads the same key before the first paint. */
const KEY = "verbatim.settings";

/** Maximum number of stored folded groups. Some may no longer exist. */
const MAX_FOLDED = 500;

type Choices = Omit<Settings, "folded">;
const choices: { [Name in keyof Choices]: readonly Choices[Name][] } = {
  theme: ["system", "dark", "light"],
  language: ["system", "en", "zh"],
  density: ["comfortable", "compact"],
  thinking: ["open-while-live", "closed", "open"],
  showSteps: [false, true],
  rows: ["readable", "every"],
  times: ["clock", "elapsed"],
  groupBy: ["project", "time"],
  sort: ["none", ...LIST_COLUMNS.flatMap((column) => [`${column} down`, `${column} up`] as const)],
  outline: [true, false],
  attention: [true, false],
  notify: ["off", "waiting", "all"],
  push: [false, true],
  lanes: [false, true],
};

/** The stored value if it is one of the choices, else the first choice. */
function choice<Name extends keyof Choices>(stored: object, name: Name): Choices[Name] {
  const value: unknown = Reflect.get(stored, name);
  const [first] = choices[name];
  // Every list of choices has at least one entry.
  return choices[name].find((known) => known === value) ?? (first as Choices[Name]);
}

function foldedIn(stored: object): string[] {
  const value: unknown = Reflect.get(stored, "folded");
  const keys: unknown[] = Array.isArray(value) ? value : [];
  return keys.filter((key) => typeof key === "string").slice(-MAX_FOLDED);
}

function read(): Settings {
  let stored: unknown;
  try {
    stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    // Storage is blocked or contains something else.
  }
  const from = typeof stored === "object" && stored !== null ? stored : {};
  return {
    theme: choice(from, "theme"),
    language: choice(from, "language"),
    density: choice(from, "density"),
    thinking: choice(from, "thinking"),
    showSteps: choice(from, "showSteps"),
    rows: choice(from, "rows"),
    times: choice(from, "times"),
    groupBy: choice(from, "groupBy"),
    sort: choice(from, "sort"),
    folded: foldedIn(from),
    outline: choice(from, "outline"),
    attention: choice(from, "attention"),
    notify: choice(from, "notify"),
    push: choice(from, "push"),
    lanes: choice(from, "lanes"),
  };
}

function applyTheme(theme: Settings["theme"]): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** The class selects the sizes in theme.css. */
function applyDensity(density: Settings["density"]): void {
  document.documentElement.classList.toggle("is-compact", density === "compact");
}

/** Reads the settings, stores each change, and applies theme and density to the document. */
export function createSettings(): StoreApi<Settings> {
  const settings = createStore<Settings>(read);
  applyTheme(settings.getState().theme);
  applyDensity(settings.getState().density);
  settings.subscribe((now) => {
    applyTheme(now.theme);
    applyDensity(now.density);
    try {
      localStorage.setItem(KEY, JSON.stringify(now));
    } catch {
      // Storage is full or blocked: the choice is lost when the page is closed.
    }
  });
  return settings;
}
