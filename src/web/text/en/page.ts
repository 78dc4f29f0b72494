import type { AgentWait, TerminalPlace } from "../../../model/session.ts";
import { counted } from "../../ui/size.ts";

/** What agents call the thing that they wait for, in the page's words. Others are shown in the agent's own. */
const WAITS: Readonly<Record<string, string>> = {
  "permission prompt": "Permission",
  "input needed": "Question",
  "dialog open": "Open dialog",
  "sandbox request": "Sandbox permission",
  "worker request": "Worker request",
};

/** Units of a duration that is given by its largest one. */
export type TimeUnit = "y" | "d" | "h" | "min" | "s";

/** What every screen has. */
export const page = {
  waiting: {
    /** Stands alone, as a heading or a filter. */
    name: "Waiting for you",
    self: "waiting for you",
    below: "sub-agent waiting for you",
    badge: "waiting",
    none: "Nothing is waiting for you.",
    next: "Next request that is waiting for you",
    /** What an agent in another process waits for. */
    agent: ({ for: reason }: AgentWait): string =>
      reason === undefined ? "Needs your input" : (WAITS[reason] ?? reason),
    /** Where that is answered. */
    elsewhere: "answer in its terminal",
    /** Where that terminal is. */
    place: ({ tmux, program, tty, pid }: TerminalPlace): string =>
      [tmux === undefined ? program : `tmux ${tmux}`, tty, `process ${pid}`]
        .filter((each) => each !== undefined)
        .join(", "),
    counted: (count: number): string => `${count} waiting for you`,
    since: (age: string): string => `· ${age}`,
    more: (count: number): string => `${count} more, press w`,
  },
  keys: {
    space: "Space",
    allow: "Allow (approval in focus)",
    pageDown: "Page down",
    pageUp: "Page up",
    down: "Scroll down",
    up: "Scroll up",
    end: "Go to end and follow",
    allowAlways: "Allow for this session (approval in focus)",
    deny: "Deny (approval in focus)",
    title: "Keyboard shortcuts",
  },
  link: {
    longText: "its text is very long",
    notLink: (title: string): string => `Not a link: ${title}`,
    noAddress: "no address",
    embedded: "embedded",
    image: "image",
    noDescription: "without description",
    notLoaded: "Not loaded. Shows the address.",
    hiddenFromHere: "from here on, hidden characters are written out",
    otherHost: "link text shows a different host",
  },
  app: {
    titled: (title: string): string => `${title} · Verbatim`,
    outdated: "The daemon was updated since this page was loaded.",
    signedOutTitle: "Verbatim: signed out",
    signIn:
      "If there is a password, “Try again” asks for it. A launch link works once. For a new one, in Verbatim's folder:",
    openLink: "Open the address that it prints. This page then works again, in every tab.",
    brokenTitle: "Verbatim: this page cannot be shown",
    broken: "This page cannot be shown",
    nothingLost: "Nothing is lost: the session's record is in the daemon and its files.",
    startDaemon: "The daemon does not answer. Start it with npm start. This page then goes on by itself.",
    lastUpdate: (age: string): string => `, last update ${age} ago`,
    reload: "Reload",
    notFoundTitle: "Page not found · Verbatim",
    notFound: "Page not found",
    noAddress: "doesn't exist.",
    signedOut: "This browser isn't signed in",
    updated: "The daemon was probably updated since this page was loaded: reload the page.",
    disconnected: "Disconnected",
    retry: "Retry",
  },
  attach: {
    heading: "Agents in terminals",
    about: {
      requests: (name: string): string =>
        `Shows what ${name} writes in terminals as it is written, and lets you answer what it asks.`,
      approvals: (name: string): string =>
        `Answer the approvals of ${name} in this page. While a page shows the session, an approval is held for up to 15 s before the terminal asks.`,
      commands: (name: string): string =>
        `Approve what ${name} does in this page. While a page shows the session, every command and file change is held for up to 15 s, also those that its own rules allow.`,
      none: (name: string): string =>
        `See whether ${name} works or waits. Its requests are answered in the terminal.`,
    },
    on: {
      hook: (file: string): string => `Attached. The hook is in ${file}.`,
      server: (file: string): string => `Attached over ${file}.`,
      plugin: (file: string): string => `Attached. The plugin is ${file}.`,
    },
    off: {
      hook: (file: string): string => `Adds a hook to ${file}. Open sessions use it within seconds.`,
      server: (file: string): string => `Answers over the agent's own server, ${file}. Changes no settings.`,
      plugin: (file: string): string => `Adds the plugin ${file}. Sessions that you start afterwards use it.`,
    },
    /** An agent whose open sessions do not load new hooks. */
    offHookLater: (file: string): string =>
      `Adds hooks to ${file}. Sessions that you start afterwards use them.`,
    install: "Attach",
    remove: "Detach",
    change: "Show the change",
    changeOf: (file: string): string => `Change of ${file}`,
    loading: "Loading",
    failed: (reason: string): string => `This did not work: ${reason}`,
  },
  opened: {
    chooseFile: "Open file…",
    chooseFolder: "Open folder…",
    drop: "Drop a session file to open it",
    opening: "Opening",
    failed: "This file cannot be opened",
    found: (sessions: number): string => `${counted(sessions, "session")} found`,
    unreadable: "It cannot be read.",
    tooLarge: (limit: number): string =>
      `Files that are opened together may have ${Math.floor(limit / 1024 / 1024)} MB.`,
    tooMany: (limit: number): string => `At most ${limit.toLocaleString("en")} files can be opened together.`,
    mark: "opened file, not stored",
    gone: "File no longer open",
    goneText:
      "Opened files are kept in memory only: until their last page is closed, for an hour without use, or until the daemon restarts. Open the file again.",
  },
  sources: {
    heading: "Agents",
    off: "off",
    read: (age: string): string => `read ${age}`,
    noFolder: "(does not exist)",
    notFound: (count: number): string => `Not found (${count})`,
    loading: "Loading",
    failed: (reason: string): string => `This did not work: ${reason}`,
  },
  settings: {
    title: "Settings",
    more: "More",
    thisSession: "This session",
    thinking: "Thinking",
    closed: "Closed",
    open: "Open",
    language: "Language",
    rows: "Rows",
    readable: "Readable",
    everyRecord: "Every record",
    theme: "Theme",
    system: "System",
    dark: "Dark",
    light: "Light",
    times: "Times",
    clock: "Time of day",
    on: "On",
    off: "Off",
    whileStreaming: "Open while streaming",
    elapsed: "Elapsed",
    steps: "Show step boundaries",
    notify: "Notifications",
    notifyWaiting: "When a session waits for you",
    notifyAll: "Also when one fails or finishes",
    blockedNotify:
      "The browser blocks notifications of this page. Allow them in the browser's settings for this site.",
    cannotNotify: "This browser shows no notifications here. They need https, or an address of this machine.",
    push: "Also when no page is open",
    pushNote:
      "Sent through the push service of this browser, encrypted. Works only while Verbatim runs on its machine.",
    noPushService:
      "This browser cannot reach its push service. Check its connection and settings, then try again.",
    saved: "Saved in this browser.",
  },
  palette: {
    title: "Command palette",
    placeholder: "Session, prompt or command",
    key: "Command palette",
    button: "Go to",
    sessions: "Sessions",
    prompts: "Prompts in this session",
    commands: "Commands",
    list: "Go to all sessions",
    failed: (reason: string): string => `Sessions and commands cannot be listed: ${reason}`,
    searchAll: "Search everything",
    searchFor: (text: string): string => `Search everything for “${text}”`,
  },
  common: {
    close: "Close",
    tryAgain: "Try again",
    allSessions: "All sessions",
    sessions: "Sessions",
    newSession: "New session",
    path: "Path",
    showAll: "Show all",
    showLess: "Show less",
    copy: "Copy",
    copyOf: (what: string): string => `Copy ${what}`,
    copying: "Copying",
    copied: "Copied",
    notCopied: "Not copied",
    notLoaded: "Not loaded",
    /** Before a reason. */
    notLoadedFor: "Not loaded:",
  },
  count: {
    sessions: (count: number): string => counted(count, "session"),
    turns: (count: number): string => counted(count, "turn"),
    steps: (count: number): string => counted(count, "step"),
    calls: (count: number): string => counted(count, "call"),
    toolCalls: (count: number): string => counted(count, "tool call"),
    errors: (count: number): string => counted(count, "error"),
    lines: (count: number): string => counted(count, "line"),
    characters: (count: number): string => counted(count, "character"),
    matches: (count: number): string => counted(count, "match", "matches"),
    results: (count: number): string => counted(count, "result"),
    tokens: (count: number): string => counted(count, "token"),
    /** `short` is how the number is written. */
    shortTokens: (count: number, short: string): string => `${short} ${count === 1 ? "token" : "tokens"}`,
    shortCharacters: (short: string): string => `${short} characters`,
  },
  time: {
    now: "now",
    ago: (age: string): string => `${age} ago`,
    unit: (count: number, unit: TimeUnit): string => `${count} ${unit}`,
    seconds: (count: string): string => `${count} s`,
    minutes: (minutes: number, seconds: number): string =>
      seconds > 0 ? `${minutes} min ${seconds} s` : `${minutes} min`,
    hours: (hours: number, minutes: number): string =>
      minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`,
  },
  badge: {
    running: "RUNNING",
    ok: "OK",
    failed: "FAILED",
    stopped: "stopped",
    stoppedTitle: "Stopped before its end",
  },
  activity: { text: "writing", thinking: "thinking" },
  announce: {
    running: "Working",
    completed: "Done",
    failed: "Failed",
    interrupted: "Stopped",
    waiting: (isBelow: boolean, what: string, more: number): string =>
      `${isBelow ? "A sub-agent of this session" : "Another session"} is waiting for you: ${what}${more > 0 ? `, and ${more} more` : ""}`,
    cannot: "Changes on this page cannot be announced.",
  },
  connection: {
    live: "live",
    connecting: "connecting",
    tryingAgain: "trying again",
    nextTry: (seconds: number): string => `next try in ${seconds} s`,
    blocked: "No live connection",
    blockedText:
      "The daemon answers, but a proxy in front of it must pass on WebSockets at /api/live. This page then connects by itself.",
    lost: "The daemon does not answer",
    lostText: "Start it with npm start. This page then connects by itself.",
  },
  failure: {
    unauthorized: "This browser is not signed in to Verbatim's daemon.",
    offline: "The daemon does not answer.",
    answered: (status: number): string => `The daemon answered ${status}.`,
  },
  url: {
    noProtocol: "the address names no protocol",
    fillsMessage: "it fills in the message",
    credentials: "it contains a user name and password",
    token: "it contains what looks like a token",
    encoded: "it contains a long encoded value",
    metadata: "it leads to a cloud metadata service",
    linkLocal: "it leads to a link-local address",
    invisible: "the address contains invisible characters",
    misleading: "the address is written to mislead",
    notHost: "what precedes @ is not the host",
    lookalike: "the host has letters that may imitate others",
    dot: "the host ends in a dot",
    beginsLike: "the host begins like another one",
    pathLikeHost: "the path looks like a host",
    redirect: "it passes on another address",
    muchData: "it carries a lot of data",
    long: "the address is very long",
    secret: (characters: number): string => `(${characters} characters)`,
  },
};
