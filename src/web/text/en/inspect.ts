import { counted } from "../../ui/size.ts";

/** Text of the inspector, the timeline and the dialogs of a session. */
export const inspect = {
  changes: {
    title: "Changes",
    of: "Show",
    allTurns: "All turns",
    turn: (number: number): string => `Turn ${number}`,
    loading: "Loading",
    slow: "Reading the whole session. This can take a minute per gigabyte.",
    none: "No file changes are recorded here.",
    files: (count: number): string => `${count} ${count === 1 ? "file" : "files"} changed`,
    kinds: { create: "created", update: "changed", delete: "deleted", move: "moved" },
    notNet: "The record does not say where in the file each edit is, so they are listed in order.",
    sameText: "The text is unchanged.",
    notRecorded: "The record does not say what changed.",
    cut: "This diff is not shown: those above are too long. Choose a single turn.",
    edits: "Made by:",
    edit: (number: number): string => `call ${number}`,
    thought: "thought",
    commit: "Commit",
    pullRequest: "Pull request",
    notSeen: (count: number): string =>
      `${count} ${count === 1 ? "command" : "commands"} may have changed files without a record of it`,
  },
  errors: {
    none: "No errors are recorded here.",
    ranks: {
      ending: (count: number): string => (count === 1 ? "Why it ended" : `Why ${count} turns ended`),
      failed: (count: number): string => `${count} failed ${count === 1 ? "call" : "calls"}`,
      exit: (count: number): string =>
        `${count} ${count === 1 ? "command" : "commands"} with an exit code other than 0`,
    },
    cutOff: "Cut off at",
    noEnd: "No end after",
    exit: (code: number): string => `exit ${code}`,
    place: (turn: number, step: number | undefined): string =>
      step === undefined ? `turn ${turn}` : `turn ${turn}, step ${step}`,
    more: (count: number): string =>
      `${counted(count, "more error")} ${count === 1 ? "is" : "are"} not listed. Press e in the transcript to step through all.`,
    runs: (count: number): string => `${count} ${count === 1 ? "sub-agent" : "sub-agents"} with errors`,
  },
  inspect: {
    tabs: "Inspector",
    width: "Width of the inspector",
    titles: {
      changes: "Changes",
      errors: "Errors",
      context: "Model input",
      figures: "Figures",
      compare: "Compare",
      verify: "Verify",
      notes: "Notes",
    },
  },
  verify: {
    reading: "Reading the record",
    equal: (parts: string): string => `Equal: all ${parts} parts match the record.`,
    differs: (shown: string, reread: string): string =>
      `Different: ${shown} parts are shown, ${reread} were read from the record.`,
    first: (number: string): string => `The first difference is part ${number}.`,
    isShown: "Shown",
    isRecorded: "Record",
    missing: "no such part",
    noPage:
      "This page's own parts were not compared: the browser computes digests only over HTTPS or on localhost.",
    pageEqual: (loaded: string, all: string): string =>
      `This page: ${loaded === all ? `all ${all} parts` : `the ${loaded} of ${all} parts that it has loaded`} match the record.`,
    pageDiffers: "This page differs from the record.",
    shown: (digest: string): string => `Daemon, shown: SHA-256 ${digest}`,
    reread: (digest: string): string => `Daemon, read again: SHA-256 ${digest}`,
    page: (digest: string): string => `This page: SHA-256 ${digest}`,
    expected: (digest: string): string => `The same parts, read again: SHA-256 ${digest}`,
    lag: "Behind the file",
    allRead: (bytes: string): string => `All ${bytes} bytes on disk are read`,
    behind: (missing: string, bytes: string): string =>
      `${missing} of ${bytes} bytes on disk are not read yet`,
    lastRead: (milliseconds: string): string => `Last write read after ${milliseconds} ms`,
    waiting: (milliseconds: string): string => `Behind for ${milliseconds} ms`,
    newest: (age: string): string => `Newest record ${age} old`,
    pageHasAll: "This page has every frame",
    pageLacks: (count: number): string => `This page lacks ${count} ${count === 1 ? "frame" : "frames"}`,
    record: "Record:",
    archived: "from the archive",
    about:
      "The daemon reads the record again from the beginning and compares every part with its live transcript and with the parts on this page. A running session may have grown in the meantime.",
  },
  context: {
    loading: "Loading",
    previous: "Previous call",
    next: "Next call",
    call: (number: number, all: number): string => `Call ${number} of ${all}`,
    attempt: "attempt without an answer",
    recorded: "The request as the agent logged it.",
    rebuilt:
      "Rebuilt from the session's record. The system prompt, the tools, the parameters and context that the agent added without a record are missing.",
    verified: "Its digest matches the agent's own.",
    missing: (what: string): string => `Missing in the log: ${what}.`,
    cut: "The session is so long that only the parts shortly before this call were read.",
    tokens: (given: string, out: string): string => `${given} tokens in, ${out} out`,
    cacheRead: (count: string): string => `${count} read from cache`,
    cacheWrite: (count: string): string => `${count} written to cache`,
    find: "Find in this input",
    findButton: "Find",
    found: (count: number): string => `Found in ${count} ${count === 1 ? "item" : "items"}.`,
    notFound: (earlier: number): string =>
      earlier > 0
        ? "Not in this input. It was in an earlier one:"
        : "Not in this input, nor in an earlier one.",
    foundEarlier: (count: number): string =>
      `${count} ${count === 1 ? "message" : "messages"} of earlier calls, no longer in this input`,
    lastCall: (call: string): string => `Last in call ${call}`,
    parameters: "Parameters",
    sections: {
      system: (count: number, size: string): string =>
        `System prompt: ${count} ${count === 1 ? "block" : "blocks"}, ${size} characters`,
      tools: (count: number, size: string): string =>
        `${count} ${count === 1 ? "tool" : "tools"}, ${size} characters`,
    },
    left: (count: number, size: string): string =>
      `− ${count} ${count === 1 ? "message" : "messages"} removed since the previous call, ${size} characters`,
    new: "New since the previous call",
    unchanged: (count: number, size: string): string =>
      `${count} ${count === 1 ? "message" : "messages"} unchanged since the previous call, ${size} characters`,
    cached: "cached up to here",
    characters: (size: number): string => `${size.toLocaleString("en")} characters`,
    toPart: "Go to this part",
  },
  figures: {
    ofTurn: (number: number): string => `Figures of turn ${number}`,
    none: "Nothing is recorded yet.",
    time: "Time",
    timeKinds: { model: "Model", tools: "Tools", person: "Waiting for you", other: "Other" },
    timeMeaning: {
      model: "From the model's input to the end of its answer",
      tools: "While at least one tool ran",
      person: "While a request waited for an answer",
      other: "Time in turns that the record does not explain",
    },
    tokens: "Tokens",
    newTokens: (count: string): string => `${count} in, not cached`,
    cacheRead: (count: string): string => `${count} read from cache`,
    cacheWrite: (count: string): string => `${count} written to cache`,
    output: (count: string): string => `${count} out`,
    reasoning: (count: string): string => `(${count} of them reasoning)`,
    cost: (sum: string): string => `Cost ${sum}`,
    costMeaning:
      "The cost that the agent recorded for each step, otherwise its tokens at the vendor's list price on that day",
    asRecorded: "as recorded",
    atListPrices: (date: string): string => `at list prices of ${date}`,
    partlyRecorded: (sum: string, date: string): string =>
      `(${sum} of it recorded, the rest at list prices of ${date})`,
    noCost: "Cost unknown",
    unpricedShare: (percent: string, models: string): string =>
      `${percent} of the tokens have no price${models === "" ? "" : `: ${models}`}`,
    moreModels: (count: number): string => `${count} more`,
    listDifference: (sum: string, isMore: boolean): string =>
      `List prices are ${sum} ${isMore ? "above" : "below"} the recorded cost`,
    withRuns: (sum: string): string => `With runs ${sum}`,
    runsLeftOut: (count: number): string => `(without ${count} ${count === 1 ? "run" : "runs"})`,
    keptAnHour: (count: string): string => `(${count} of them for an hour)`,
    agentCost: (sum: string): string => `By the agent's own count ${sum}`,
    noDifference: "(the same)",
    difference: (sum: string): string => `(differs by ${sum})`,
    contextChart: (highest: string): string => `Tokens given to each model call, at most ${highest}`,
    contextAt: (turn: number, step: number, tokens: string): string =>
      `Turn ${turn}, step ${step}: ${tokens} tokens`,
    tools: "Tools",
    tool: "Tool",
    calls: "Calls",
    failed: "Failed",
    models: "Models",
    model: "Model",
    steps: "Steps",
    in: "In",
    out: "Out",
    runs: (count: number): string => `${count} ${count === 1 ? "run" : "runs"} of sub-agents`,
    run: "Run",
    turn: "Turn",
    step: "Step",
    cached: "Cached",
    newIn: "New",
    stepsOf: (count: number): string => `${count} ${count === 1 ? "step" : "steps"}`,
    stepsShown: (count: string): string =>
      `${count} of them are shown: of each few in a row, the one with the most tokens in its context.`,
    bySteps: "By step",
    csv: "Copy as CSV",
    costs: "Cost",
  },
  lanes: {
    close: "Close timeline",
    none: "Nothing in this session has a time yet.",
    kinds: {
      model: "Model",
      tool: "Tool",
      run: "Sub-agent",
      person: "Waiting for you",
      retry: "Retry",
      error: "Failed",
      compaction: "Compaction",
      interrupt: "Interrupt",
    },
    failed: "failed",
    goesOn: "still running",
    openPart: "Open",
    keys: "← → bars, ↑ ↓ lanes, Enter opens, + − zoom",
    cut: "The latest bars are not shown: there are too many.",
    leftOut: (count: number): string => `${count} more ${count === 1 ? "run is" : "runs are"} not shown`,
    silent: (doing: string, silence: string): string => `${doing}, silent ${silence}`,
    noEnd: "no end recorded",
    stopped: "Stopped",
    phaseState: (ended: number, all: number, failed: number): string =>
      `${ended} of ${all} done${failed === 0 ? "" : `, ${failed} failed`}`,
  },
  compare: {
    with: "Compare with",
    none: "No session to compare with: none has the same folder, prompt or parent.",
    equal: (parts: number): string => `Both say the same in all ${parts} parts.`,
    different: "They differ from the first part on.",
    same: (parts: number, turn: number, step: number | undefined): string =>
      `${parts === 1 ? "The first part is" : `The first ${parts} parts are`} the same, up to turn ${turn}${step === undefined ? "" : `, step ${step}`}. From there on they differ:`,
    ends: "Ends here.",
    more: (count: number): string => `${count} more ${count === 1 ? "part" : "parts"}`,
    place: (turn: number, step: number | undefined): string =>
      step === undefined ? `turn ${turn}` : `turn ${turn}, step ${step}`,
    toPart: "open",
  },
  fork: {
    title: "From this prompt",
    newSession: "New session from here",
    rewind: "Rewind to here",
    later: "Possible once the agent's turn has ended or was stopped.",
    notLoaded: (reason: string): string =>
      `The prompt could not be loaded. ${reason} Close this and try again.`,
    lost: (lost: number, attached: number): string => {
      const which =
        attached === 1
          ? "Its attachment is"
          : lost === attached
            ? `Its ${attached} attachments are`
            : `${lost} of its ${attached} attachments ${lost === 1 ? "is" : "are"}`;
      return `${which} not copied: a draft holds only images, and only if the model accepts them. Add ${lost === 1 ? "it" : "them"} again.`;
    },
  },
  agentDialog: {
    switchModel: "Switch the model",
    switchScript: "Switch the script",
    changed: (model: string): string => `From the next call on: ${model}.`,
    compact: "Compact",
    compactAbout:
      "Replaces the earlier context with a summary, to make room. The transcript keeps everything.",
    compactLater: "Possible once the agent's turn has ended.",
  },
};
