import type { CallOutcome, Decider } from "../../model/parts/outcome.ts";
import type { AgentWait } from "../../model/session.ts";

/** What agents call the thing that they wait for, in the page's words. Others are shown in the agent's own. */
const WAITS: Readonly<Record<string, string>> = {
  "permission prompt": "Permission",
  "input needed": "Question",
  "dialog open": "Open dialog",
  "sandbox request": "Sandbox permission",
  "worker request": "Worker request",
};

/** Who refused or stopped a call, as its line says it. `person` is the reader. */
const DECIDED: Readonly<Record<Decider, string>> = {
  person: "you",
  hook: "hook",
  rule: "permission rule",
  mode: "permission mode",
  settings: "settings",
  reviewer: "reviewer model",
  program: "the agent",
};

/** The page's words, by screen. */
export const en = {
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
    counted: (count: number): string => `${count} waiting for you`,
    since: (age: string): string => `· ${age}`,
    more: (count: number): string => `${count} more, press w`,
  },
  call: {
    rawInput: "Raw input",
    /** An open call of an agent that waits in its own terminal: its record does not tell which one it waits for. */
    mayWait: "running or waiting for you",
    /** In the badge's place, for a call that neither succeeded nor failed. */
    badge: ({ kind, by }: CallOutcome): string =>
      kind !== "refused" ? kind : by === "person" ? "denied" : by === undefined ? "refused" : "blocked",
    /** "Denied by you", "Blocked by hook PreToolUse", "Stopped", "Outcome unknown". */
    outcome: ({ kind, by, name }: CallOutcome): string => {
      const what =
        kind === "unknown"
          ? "Outcome unknown"
          : kind === "stopped"
            ? "Stopped"
            : by === "person"
              ? "Denied"
              : by === undefined
                ? "Refused"
                : "Blocked";
      return by === undefined ? what : `${what} by ${DECIDED[by]}${name === undefined ? "" : ` ${name}`}`;
    },
  },
  composer: {
    message: "Message the agent",
    escAgain: "Press Esc again to stop",
    keysSteer: "Enter: queue · Alt+Enter: steer · Esc Esc: stop",
    keysQueue: "Enter: queue · Esc Esc: stop",
    keysSend: "Enter to send, Shift+Enter for a new line",
    closedFork: "Start a new session from any of its prompts: “Branch” beside the prompt.",
    noPrompt: "No longer a prompt.",
  },
  turn: {
    thoughts: (count: number): string =>
      count === 1 ? "1 thought not recorded" : `${count} thoughts not recorded`,
    hooks: (count: number): string => (count === 1 ? "1 hook" : `${count} hooks`),
    showEvery: "Show every record",
    branch: "Branch",
    costUnknown: "cost unknown",
    cutOff: "cut off",
    afterTools: "ended after tool calls",
  },
  session: {
    continuedIn: (id: string): string => `rewound, continued in ${id}`,
    abandoned: (byte: string): string => `Everything after byte ${byte} was abandoned`,
    openSplit: (title: string): string => `Open ${title} in split view`,
    splitButton: "Split",
    closeKeys: "Close find, the outline, the split view",
    closeThenStop: "Close what is open; then, twice, stop the agent",
    costUnknown: "cost unknown",
    noPrice: "No list price for this model",
    scripted: "script, no model",
    syncing: "Syncing",
    split: "Sub-agent in split view",
    openFull: "Open full",
    onlyError: "Only one error",
    wrappedFirst: "Wrapped to the first error",
    wrappedLast: "Wrapped to the last error",
    allKeys: "Expand all, collapse all, reset",
    outline: "Outline",
    up: "Go to parent call or sessions",
    agentSettings: "Agent settings",
    expandAll: "Expand all",
    collapseAll: "Collapse all",
    reset: "Reset",
    compacting: "Compacting",
    ownSettings: "Change this in the agent's own settings.",
    copies: "Copies everything before this prompt. This session stays as it is.",
    forgets:
      "The agent no longer sees this prompt or what follows. It stays in the transcript; files stay as they are.",
  },
  keys: {
    pageDown: "Page down",
    pageUp: "Page up",
    down: "Scroll down",
    up: "Scroll up",
    end: "Go to end and follow",
    allowAlways: "Allow for this session (approval in focus)",
    deny: "Deny (approval in focus)",
    title: "Keyboard shortcuts",
  },
  request: {
    deny: "Deny",
    denied: "Denied",
    deniedTimeOut: "Denied: timed out",
    timedOut: "Timed out",
    cancelled: "Cancelled before an answer",
    elsewhere: "Answer this on the machine that runs it.",
    reason: "Reason (sent to the agent)",
  },
  part: {
    thought: "Thought",
    hidden: { encrypted: "encrypted", redacted: "redacted", empty: "not recorded" },
    noImage: "unsupported image format",
    unknown: "Unknown record type",
    parsed: "Parsed part",
    changed: "this part has changed.",
    encrypted: "(encrypted)",
    redacted: "(redacted)",
    notRecorded: "(not recorded)",
  },
  link: {
    otherHost: "link text shows a different host",
  },
  app: {
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
  terminal: {
    name: "Asked in a terminal",
    hint: "Answer here or in the terminal. The first answer counts.",
    hidden: "The terminal shows this request when the time is up.",
    answeredThere: "The request was answered in the terminal.",
    notLoaded: (reason: string): string =>
      `The request cannot be shown: ${reason} Answer it in the terminal.`,
  },
  attach: {
    heading: "Agents in terminals",
    about: (name: string): string => `Answer approvals, questions and plans of ${name} in this page.`,
    on: (file: string): string => `Attached. The hook is in ${file}.`,
    off: (file: string): string => `Adds a hook to ${file}. Open sessions use it within seconds.`,
    install: "Attach",
    remove: "Detach",
    change: "Show the change",
    changeOf: (file: string): string => `Change of ${file}`,
    loading: "Loading",
    failed: (reason: string): string => `This did not work: ${reason}`,
  },
  settings: {
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
    saved: "Saved in this browser.",
  },
  sessions: {
    hidden: (sessions: string): string => `Filters hide ${sessions} and runs.`,
    scripted: "Plays a recorded script. No model is called.",
    untitled: "Untitled session",
    loading: "Loading sessions",
    indexing: "Older ones are still being indexed.",
    noMatches: "No matches",
    /** `text` is what the list is filtered by. */
    searchInside: (text: string): string => `Search inside all sessions for "${text}"`,
  },
  attention: {
    name: "Needs attention",
    kinds: {
      waiting: "Waiting",
      failed: "Failed",
      quiet: "Quiet",
      finished: "Finished",
      running: "Running",
    },
    /** After a number. */
    counted: {
      waiting: "waiting for you",
      failed: "failed",
      quiet: "quiet",
      finished: "finished, unread",
      running: "running",
    },
    working: "Working",
    failed: "The last turn failed",
    quiet: (silent: string, activity: string | undefined): string =>
      `No record for ${silent}${activity === undefined ? "" : `, last: ${activity}`}`,
    unread: (parts: string): string => `${parts} since you looked`,
    markedUnread: "Marked as unread",
    active: (age: string): string => `active ${age} ago`,
    expires: (age: string): string => `expires in ${age}`,
    done: "Done",
    doneWith: (title: string): string => `Done: ${title}`,
    notSaved: "This was not saved: the daemon did not answer.",
    showRunning: (count: number): string => `Show ${count} running`,
    hideRunning: "Hide running",
  },
  read: {
    markRead: "Mark as read",
    markUnread: "Mark as unread",
    toggle: "Mark as read or unread",
    pin: "Pin",
    unpin: "Unpin",
    togglePin: "Pin or unpin",
    pinned: "Pinned",
    unread: "unread",
    counted: (count: string): string => `${count} new`,
    divider: "New since you looked",
    above: "↑ New since you looked",
    toFirst: "Go to the first new part since you looked",
    nothingNew: "Nothing is new since you looked.",
  },
  filter: {
    name: "Filter rows",
    button: "Filter",
    key: "Filter rows by kind, status or tool",
    kinds: "Kinds",
    statuses: "States",
    tool: "Tool",
    anyTool: "Any tool",
    counting: "counting",
    close: "Show all",
    kind: {
      prompt: "Prompts",
      thought: "Thoughts",
      text: "Text",
      call: "Calls",
      output: "Outputs",
      request: "Requests",
      marker: "Markers",
      file: "Files",
      step: "Steps",
      unknown: "Unknown",
    },
    status: { ok: "OK", failed: "Failed", stopped: "Stopped", running: "Running" },
    /** They add up: rows shown, hidden, and both. */
    sum: (shown: string, hidden: string, total: string): string =>
      `${shown} shown · ${hidden} hidden · ${total} rows`,
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
  search: {
    title: "Search",
    key: "Search everything",
    focus: "Go to the search field",
    placeholder: 'Words, "a phrase", /regex/, kind:thought tool:Bash status:failed after:7d',
    hint: "Searches prompts, thoughts, answers, tool calls and outputs of all sessions.",
    results: "Search results",
    none: "No matches",
    soFar: "so far",
    more: "Load more",
    searched: (searched: string, all: string): string => `${searched} of ${all} sessions searched`,
    notIndexed: (count: string): string => `${count} not indexed yet`,
    cut: (count: string): string => `${count} long parts searched only at their beginning and end`,
    by: { person: "you", model: "model", tool: "tool", agent: "agent" },
    turn: (turn: number): string => `turn ${turn}`,
  },
  start: {
    needSetup: (count: number): string => (count === 1 ? "1 needs setup" : `${count} need setup`),
    scripted: "script, no model",
    plays: "Plays a recorded script. No model is called.",
    costUnknown: "cost unknown",
    chooseAgent: "Choose an agent.",
    enterPrompt: "Enter a prompt.",
    back: "Back to sessions",
    agent: "Agent",
    folder: "Working directory. File tools can't leave it.",
    task: "Describe the task",
    keys: "Enter to start, Shift+Enter for a new line",
  },
} as const;
