import type { CallOutcome, Decider, Permission } from "../../../model/parts/outcome.ts";
import { counted, exactNumber } from "../../ui/size.ts";

/** Who allowed, refused or stopped a call, for its line. `person` is the user. */
const DECIDED: Readonly<Record<Decider, string>> = {
  person: "you",
  hook: "hook",
  rule: "permission rule",
  mode: "permission mode",
  settings: "settings",
  reviewer: "reviewer model",
  program: "the agent",
};

/** Text of a transcript and of the composer below it. */
export const transcript = {
  call: {
    /** "Allowed by you, for the session". */
    permission: ({ by, name, scope }: Permission): string =>
      `Allowed by ${DECIDED[by]}${name === undefined ? "" : ` ${name}`}${
        scope === undefined ? "" : scope === "once" ? ", once" : `, for the ${scope}`
      }`,
    input: "input",
    output: "output",
    outputSoFar: "output so far",
    error: "error",
    noOutput: "No output.",
    asSent: "Output as sent to the model",
    result: "result",
    noCall: "result without a call",
    details: "details",
    /** For the accessible name of a row. */
    states: {
      running: "running",
      failed: "failed",
      refused: "refused",
      stopped: "stopped",
      unknown: "unknown",
      open: "open",
      waiting: "waiting",
    },
    rawInput: "Raw input",
    /** For an open call while its agent waits in a terminal: the record does not tell which call it waits for. */
    mayWait: "running or waiting for you",
    /** Replaces the badge of a call that neither succeeded nor failed. */
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
    prompt: "Prompt",
    closed: "This session accepts no more prompts: its agent has ended.",
    closedNew: "Start a new session to continue.",
    queued: (count: number, isHeld: boolean): string =>
      `${counted(count, "prompt")} ${isHeld ? "held" : "queued"}`,
    heldRewound: "Held: the session was rewound. They stay here until you send or withdraw them.",
    held: (isFailed: boolean): string =>
      `Held: the previous turn ${isFailed ? "failed" : "was stopped"}. A new prompt is sent after them.`,
    heldList: "Held prompts",
    queuedList: "Prompts queued until this turn ends",
    /** What a prompt in the list is. */
    heldWord: "held",
    queuedWord: "queued",
    /** Replaces the text of a prompt that has none. */
    images: "images",
    andMore: (count: number): string => ` and ${count} more`,
    queuePrompt: "Queue a prompt",
    queueOrSteer: "Queue a prompt, or steer the agent",
    stop: "Stop",
    stopping: "Stopping",
    edit: "Edit",
    steerNow: "Steer now",
    send: "Send",
    queue: "Queue",
    sending: "Sending",
    sendNow: "Send now",
    sendNowOf: (text: string): string => `Send now: ${text}`,
    withdraw: "Withdraw",
    withdrawOf: (text: string): string => `Withdraw ${text}`,
    lostImages: (count: number): string =>
      count === 1
        ? "An image was too large to keep across the reload: add it again."
        : `${count} images were too large to keep across the reload: add them again.`,
    notWithdrawn: "Not withdrawn yet: the daemon does not answer. It is withdrawn as soon as it does.",
    notSent: (reason: string): string => `Not sent. ${reason}`,
    notSentYet: "Not sent yet: the daemon does not answer. It is sent as soon as it does.",
    notStopped: (reason: string): string => `Not stopped. ${reason} Press Stop again.`,
    message: "Message the agent",
    escAgain: "Press Esc again to stop",
    keysSteer: "Enter: queue · Alt+Enter: steer · Esc Esc: stop",
    keysQueue: "Enter: queue · Esc Esc: stop",
    keysSend: "Enter to send, Shift+Enter for a new line",
    closedFork: "Start a new session from any of its prompts: “Branch” beside the prompt.",
    noPrompt: "No longer a prompt.",
  },
  turn: {
    changes: "Changes",
    changesOf: (number: number): string => `Changes of turn ${number}`,
    number: (turn: number): string => `Turn ${turn}`,
    beforeFirst: "Before the first prompt",
    untitled: "Turn without a prompt",
    wholePrompt: "The whole prompt",
    withdrawn: (reason: string): string => `Withdrawn: ${reason}`,
    attached: (count: number): string => `, ${count} attached`,
    link: "Link to this turn",
    rawPrompt: "Raw record of this prompt",
    copyPrompt: "Copy prompt",
    copy: (turn: number): string => `Copy turn ${turn}`,
    /** Follows "Copy" if there is room. */
    copyMore: "turn",
    branchTitle: "Start a new session from here, or rewind to here",
    facts: "This turn:",
    tokens: (given: string, out: string): string => `${given} in, ${out} out`,
    ended: "end of turn",
    limit: "output limit reached",
    failed: (reason: string | undefined): string =>
      reason === undefined ? "ended in an error" : `ended in an error (${reason})`,
    partNotLoaded: "A part of the turn could not be loaded.",
    thoughts: (count: number): string =>
      count === 1 ? "1 thought not recorded" : `${count} thoughts not recorded`,
    hooks: (count: number): string => (count === 1 ? "1 hook" : `${count} hooks`),
    showEvery: "Show every record",
    branch: "Branch",
    costUnknown: "cost unknown",
    cutOff: "cut off",
    noEnd: "no end recorded",
    afterTools: "ended after tool calls",
  },
  request: {
    exact: "Exactly what runs",
    askedFor: "What was requested",
    size: (lines: number, characters: number): string =>
      `${counted(lines, "line")}, ${counted(characters, "character")}`,
    rowsBelow: (rows: number): string => `${counted(rows, "more row")} below`,
    expires: (age: string): string => `expires in ${age}`,
    expired: "has expired",
    /** Precedes the reason. */
    notAnswered: "Not answered.",
    ownWords: "In your own words",
    yourAnswer: "Your answer",
    answer: "Answer",
    several: "You can choose several.",
    chooseNone: "Choose none",
    chosen: "(chosen)",
    answered: "Answered",
    answeredWith: "Answered:",
    named: (kind: "approval" | "question", what: string): string =>
      `${kind === "approval" ? "Approval" : "Question"}: ${what}`,
    /** The standard options, by the daemon's labels. */
    labels: {
      Allow: "Allow",
      "Allow for this session": "Allow for this session",
      Deny: "Deny",
      "Deny and stop": "Deny and stop",
      Approve: "Approve",
      "Keep planning": "Keep planning",
      "Always allow": "Always allow",
    },
    /** The effect of an answer, worded like its label if possible. */
    outcome: (isAllowed: boolean, label: string): string => {
      const [asked, done] = isAllowed ? ["Allow", "Allowed"] : ["Deny", "Denied"];
      return label === asked || label.startsWith(`${asked} `)
        ? done + label.slice(asked.length)
        : `${done} (${label})`;
    },
    deny: "Deny",
    denied: "Denied",
    deniedTimeOut: "Denied: timed out",
    timedOut: "Timed out",
    cancelled: "Cancelled before an answer",
    elsewhere: "Answer this on the machine that runs it.",
    reason: "Reason (sent to the agent)",
  },
  part: {
    contextOf: "Input of the model call",
    thinking: "Thinking",
    thinkingOfMessage: "Thinking of the whole message",
    thoughts: (count: number): string => `${count} thoughts`,
    kinds: {
      thinking: "thinking",
      text: "text",
      tool: "tool",
      result: "result",
      image: "image",
      file: "file",
      prompt: "prompt",
      notice: "notice",
      step: "step",
      model: "model",
      approval: "approval",
      question: "question",
      unknown: "unknown",
      compaction: "compaction",
      interrupt: "interrupt",
      error: "error",
      retry: "retry",
      rewind: "rewind",
      context: "context",
      hook: "hook",
      note: "note",
    },
    this: (kind: string): string => `this ${kind}`,
    linkTo: (what: string): string => `Link to ${what}`,
    rawOf: (what: string): string => `Raw record of ${what}`,
    raw: "Raw",
    notLoadedYet: "not loaded yet",
    live: "live",
    liveTail: "Being written, not recorded yet",
    liveTitle: "Being written in the terminal. It is not in the agent's session file yet.",
    step: (step: number): string => `Step ${step} of its turn`,
    broken: "This part cannot be shown:",
    brokenRaw: "Its record is under Raw.",
    changedLate: "Changed after the turn's end",
    at: ", at",
    withdrawn: "withdrawn",
    typedWhileWorking: "Sent while working",
    arrivedWhileWorking: "Arrived while the agent worked",
    attachment: "Attachment",
    unreadable: "A record that could not be read",
    thought: "Thought",
    hidden: { encrypted: "encrypted", redacted: "redacted", empty: "not recorded" },
    noImage: "unsupported image format",
    unknown: "Unknown record type",
    parsed: "Parsed part",
    changed: "this part has changed.",
  },
  terminal: {
    name: "Asked in a terminal",
    asked: "Asked by the agent",
    hint: "Answer here or in the terminal. The first answer counts.",
    hidden: "The terminal shows this request when the time is up.",
    place: (place: string): string => `The terminal: ${place}.`,
    answeredThere: "The request was answered in the terminal.",
    notLoaded: (reason: string): string => `The request cannot be shown: ${reason}`,
    prompt: "Message the agent in the terminal",
    promptHint: "Enter to send, Shift+Enter for a new line. The terminal shows it, too.",
    send: "Send",
    stop: "Stop",
    notSent: (reason: string): string => `Not sent: ${reason}`,
  },
  marker: {
    hooks: (count: number): string => counted(count, "hook"),
    retries: (count: number): string => counted(count, "retry", "retries"),
    last: ", last:",
    before: (count: number, all: number): string => `Show ${count} of ${exactNumber(all)} earlier`,
    more: (count: number, all: number): string => `Show ${count} of ${exactNumber(all)} more`,
    show: "Show it",
    data: "data",
    /** The title of an error, before its remedy. */
    sentence: (title: string): string => (/[.!?…]$/.test(title) ? title : `${title}.`),
  },
  step: {
    name: (step: number | undefined): string => `step ${step ?? ""}`,
    effort: "effort",
    inherited: "copied; counted in the original session",
    reasons: {
      stop: "stop",
      length: "length",
      tool_use: "tool use",
      error: "error",
      aborted: "aborted",
    },
    in: (tokens: string): string => `${tokens} in`,
    cached: (tokens: string): string => `${tokens} of them cached`,
    out: (tokens: string): string => `${tokens} out`,
  },
  /** The lines of calls and their expanded content. */
  cards: {
    write: "Write",
    edit: "Edit",
    delete: "Delete",
    move: "Move",
    read: "Read",
    shell: "Shell",
    plan: "Plan",
    todo: "Todo",
    question: "Question",
    viewImage: "View image",
    changes: { create: "create", update: "update", delete: "delete", move: "move" },
    moreFiles: (files: number): string => ` and ${counted(files, "file")} more`,
    more: (count: number): string => `and ${count} more`,
    accepted: "accepted",
    notAccepted: "not accepted",
    answered: (answered: number, all: number): string => `${answered} of ${all} answered`,
    answer: "answer:",
    from: (line: number): string => `from ${line}`,
    linesOf: (lines: number, all: number): string => `${exactNumber(lines)} of ${counted(all, "line")}`,
    openRun: "open run",
    openRunOf: (task: string): string => `Open run ${task}`,
    in: (folder: string): string => ` in ${folder}`,
    command: (number: number | string): string => `command ${number}`,
    edits: (files: string): string => `edits ${files}`,
    waitsFor: (command: string): string => `waits for ${command}`,
    types: (text: string, command: string): string => `types ${text} into ${command}`,
    exit: (code: number): string => `exit ${code}`,
    interrupted: "interrupted",
    structured: "structured result",
    allDone: "all done",
    done: (done: number, all: number): string => `${done} of ${all} done`,
    task: (id: string, status: string | undefined): string =>
      `task ${id}${status === undefined ? "" : ` ${status}`}`,
    /** Precedes the item, for screen readers only. */
    states: { completed: "done: ", in_progress: "now: ", pending: "to do: " },
    facts: {
      agent: "agent",
      task: "task",
      state: "state",
      now: "now",
      steps: "steps",
      model: "model",
      calls: "tool calls",
      tokens: "tokens",
      time: "time",
      folder: "in",
      exit: "exit",
      limit: "limit",
      ended: "ended",
      background: "background task",
    },
  },
};
