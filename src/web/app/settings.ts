import { createStore, type StoreApi } from "zustand/vanilla";

/** What a reader wants notifications of the desktop of: nothing, what waits for them, or also what failed and finished. */
export type NotifyOf = "off" | "waiting" | "all";

/** What a reader chose, kept in this browser. */
export interface Settings {
  readonly theme: "system" | "dark" | "light";
  /** Holds from the next load of the page on. */
  readonly language: "system" | "en" | "zh";
  /** How close rows of the list and of a transcript stand. */
  readonly density: "comfortable" | "compact";
  readonly thinking: "open" | "closed" | "open-while-live";
  readonly showSteps: boolean;
  /** `readable`: what says nothing by itself is folded into a row beside it. */
  readonly rows: "readable" | "every";
  readonly times: "clock" | "elapsed";
  readonly groupBy: "project" | "time";
  readonly outline: boolean;
  /** Whether the list of what needs attention is open. */
  readonly attention: boolean;
  readonly notify: NotifyOf;
  /** Whether this browser also receives notifications when no page is open. */
  readonly push: boolean;
  /** Whether the timeline is above the transcript. */
  readonly lanes: boolean;
}

/** public/first-paint.js reads the same key before the first paint. */
const KEY = "verbatim.settings";

const choices: { [Name in keyof Settings]: readonly Settings[Name][] } = {
  theme: ["system", "dark", "light"],
  language: ["system", "en", "zh"],
  density: ["comfortable", "compact"],
  thinking: ["open-while-live", "closed", "open"],
  showSteps: [false, true],
  rows: ["readable", "every"],
  times: ["clock", "elapsed"],
  groupBy: ["project", "time"],
  outline: [true, false],
  attention: [true, false],
  notify: ["off", "waiting", "all"],
  push: [false, true],
  lanes: [false, true],
};

/** The chosen value where it is one of the choices, else the first of them. */
function choice<Name extends keyof Settings>(stored: object, name: Name): Settings[Name] {
  const value: unknown = Reflect.get(stored, name);
  const [first] = choices[name];
  // Every list of choices has a first entry.
  return choices[name].find((known) => known === value) ?? (first as Settings[Name]);
}

function read(): Settings {
  let stored: unknown;
  try {
    stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    // Storage is blocked or holds something else.
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

/** Its measures are in theme.css. */
function applyDensity(density: Settings["density"]): void {
  document.documentElement.classList.toggle("is-compact", density === "compact");
}

/** What was chosen in this browser, kept there with each change; theme and density are those of the document from here on. */
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
      // Without storage the choice holds until the page is closed.
    }
  });
  return settings;
}
