import type { AgentWait, TerminalPlace } from "../../../model/session.ts";
import type { DaemonTexts } from "../../../model/text/daemon-texts.ts";
import type { Titles } from "../../../model/text/titles.ts";
import { counted } from "../../ui/size.ts";

/** Agents' names for what they wait for, mapped to the page's. Other names are shown unchanged. */
const WAITS: Readonly<Record<string, string>> = {
  "permission prompt": "Permission",
  "input needed": "Question",
  "dialog open": "Open dialog",
  "sandbox request": "Sandbox permission",
  "worker request": "Worker request",
};

/** Units of short durations, of which only the largest unit is shown. */
export type TimeUnit = "y" | "d" | "h" | "min" | "s";

/** Text that every screen uses. */
export const page = {
  waiting: {
    /** Used alone, as a heading or filter. */
    name: "Waiting for you",
    self: "waiting for you",
    below: "sub-agent waiting for you",
    badge: "waiting",
    none: "Nothing is waiting for you.",
    next: "Next request that is waiting for you",
    /** What an agent in a terminal waits for. */
    agent: ({ for: reason }: AgentWait): string =>
      reason === undefined ? "Needs your input" : (WAITS[reason] ?? reason),
    /** Where the user can answer it. */
    elsewhere: "answer in its terminal",
    /** The location of that terminal. */
    place: ({ tmux, program, tty, pid }: TerminalPlace): string =>
      [tmux === undefined ? program : `tmux ${tmux}`, tty, `process ${pid}`]
        .filter((each) => each !== undefined)
        .join(", "),
    counted: (count: number): string => `${count} waiting for you`,
    since: (age: string): string => `· ${age}`,
    more: (count: number): string => `${count} more, press w`,
  },
  keys: {
    rules: "Alert rules",
    search: "Search everything",
    usage: "Usage of all sessions",
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
    scriptLost: "This part of the page could not be loaded.",
    reloadPage: "Reload the page",
    more: "More",
    settings: "Settings",
    titled: (title: string): string => `${title} · Verbatim`,
    outdated: "The daemon was updated since this page was loaded.",
    signedOutTitle: "Verbatim: signed out",
    signIn:
      "If there is a password, “Try again” asks for it. A launch link works once. To get a new one, run this in Verbatim's folder:",
    openLink: "Open the address that it prints. This page then works again, in every tab.",
    brokenTitle: "Verbatim: this page cannot be shown",
    broken: "This page cannot be shown",
    nothingLost: "Nothing is lost: the session's record is in the daemon and its files.",
    startDaemon: "The daemon does not answer. Start it with npm start. This page reconnects by itself.",
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
  opened: {
    chooseFile: "Open file…",
    chooseFolder: "Open folder…",
    drop: "Drop a session file to open it",
    opening: "Opening",
    failed: "This file cannot be opened",
    found: (sessions: number): string => `${counted(sessions, "session")} found`,
    unreadable: "It cannot be read.",
    tooLarge: (limit: number): string =>
      `Files opened together can have at most ${Math.floor(limit / 1024 / 1024)} MB in total.`,
    tooMany: (limit: number): string => `At most ${limit.toLocaleString("en")} files can be opened together.`,
    mark: "opened file, not stored",
    gone: "File no longer open",
    goneText:
      "Opened files are kept in memory only: until their last page is closed, for an hour without use, or until the daemon restarts. Open the file again.",
  },
  palette: {
    title: "Command palette",
    newSessions: "New sessions",
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
    saving: "Saving",
    keep: "Keep",
    edit: "Edit",
    delete: "Delete",
    cancel: "Cancel",
    allRows: (count: number): string => `Show all ${count} rows`,
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
    /** Precedes the reason. */
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
    matches: (count: number): string => counted(count, "match", "matches"),
    results: (count: number): string => counted(count, "result"),
    tokens: (count: number): string => counted(count, "token"),
    /** `short`: the number as it is displayed. */
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
    days: (days: number, hours: number): string => (hours > 0 ? `${days} d ${hours} h` : `${days} d`),
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
      "The daemon answers, but a proxy in front of it probably blocks WebSockets. Configure it to forward /api/live; this page then connects by itself.",
    lost: "The daemon does not answer",
    lostText: "Start it with npm start. This page then connects by itself.",
  },
  failure: {
    locked: "The answer was not sent: it needs the passphrase.",
    unauthorized: "This browser is not signed in to Verbatim's daemon.",
    offline: "The daemon does not answer.",
    answered: (status: number): string => `The daemon answered ${status}.`,
  },
  /** What the daemon writes in English, by its codes: in transcripts, and otherwise. */
  titles: {} as Partial<Titles>,
  daemon: {} as Partial<DaemonTexts>,
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
