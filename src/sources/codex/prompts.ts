import type { Disposition } from "../contract.ts";
import { jsonBytes, keepNewest, keyOfText } from "./bounds.ts";
import type { Log } from "./copies.ts";
import { folded, hidden, SHOWN } from "./disposition.ts";
import type { Line } from "./line.ts";
import {
  outputBlock,
  outputFacts,
  outputTitle,
  type PersonCommand,
  personCommandOf,
} from "./person-command.ts";
import type { ThreadFacts } from "./thread-facts.ts";
import type { TurnWriter } from "./turn-writer.ts";
import {
  authorByKinds,
  injectedTitle,
  isSamePrompt,
  isScheduled,
  titleByKinds,
  type UserContent,
} from "./user-message.ts";

/** A prompt or command, which each log may record once. */
interface Asked {
  /** Its text without white space around it, see `keyOfText`. */
  key: string;
  /** Its text, if a copy may lack a part of it. Absent: only an equal text is a copy. */
  text?: string;
  logs: Log[];
}

/** What `Prompts` keeps between two records. Plain JSON. */
export interface PromptsState {
  /** Prompts since the model's last output, to recognize late copies. */
  asked: Asked[];
  /** Commands that the person ran in this turn. Both an event and a message record each. */
  ran: Asked[];
  /** The file has events that repeat prompts. */
  hasConfirmations: boolean;
  /** The turn was started by a person, not by another agent. */
  byUser: boolean;
  /** The start of the first prompt, by which a run is linked. */
  firstPrompt?: string;
}

/** Maximum number of unanswered prompts, and of commands, that are searched for a copy. */
const MAX_ASKED = 48;
/** Maximum bytes of the prompts' texts. */
const MAX_ASKED_BYTES = 14 * 1024;
/** Prompts of runs are compared by this many leading UTF-16 code units. */
const MAX_FIRST_PROMPT = 500;

export const initialPrompts = (): PromptsState => ({
  asked: [],
  ran: [],
  hasConfirmations: false,
  byUser: false,
});

/** Further effects of a prompt or a message under the user's role. */
interface PromptHooks {
  /** Called before each prompt is shown. */
  onPrompt(): void;
  /** Reads another agent's report. */
  notification(content: UserContent): Disposition;
}

/** Reads prompts and messages to the agent, from any log. */
export class Prompts {
  readonly state: PromptsState;
  private readonly writer: TurnWriter;
  private readonly facts: ThreadFacts;
  private readonly hooks: PromptHooks;

  constructor(writer: TurnWriter, facts: ThreadFacts, state: PromptsState, hooks: PromptHooks) {
    this.writer = writer;
    this.facts = facts;
    this.state = state;
    this.hooks = hooks;
  }

  /** Called when later copies cannot repeat earlier prompts. */
  forget(): void {
    if (this.state.asked.length > 0) this.state.asked = [];
  }

  /**
   * Reads a message of role `user`. `confirmed`: the next line shows that a person wrote it. `last`: there is no next line, so
   * only its start can show that.
   */
  userMessage(line: Line, content: UserContent, confirmed: boolean, last: boolean): Disposition {
    const command = personCommandOf(content);
    if (command !== undefined && !confirmed) return this.ranByPerson(command, "item");
    const author = confirmed ? "person" : authorByKinds(line.payload);
    const title = injectedTitle(content);
    const person =
      author === undefined
        ? title === undefined && (last || !this.state.hasConfirmations)
        : author === "person";
    // An event may have recorded it any number of lines earlier.
    const asked = author !== "agent" && title === undefined && this.claimAsked(content.text, "item");
    if (asked) return folded("the same prompt");
    if (person) {
      if (title !== undefined && this.claimAsked(content.text, "item")) return folded("the same prompt");
      this.ask(content, isScheduled(line.payload) ? "schedule" : this.origin, "item");
      return SHOWN;
    }
    if (title?.code === "sub_agent") return this.hooks.notification(content);
    this.writer.marker("context", title ?? titleByKinds(line.payload), content.text);
    return SHOWN;
  }

  private get origin(): "agent" | undefined {
    return this.facts.state.isRun && !this.state.byUser ? "agent" : undefined;
  }

  ask(content: UserContent, origin: "agent" | "schedule" | undefined, log: Log): void {
    const { state } = this;
    const { text } = content;
    state.firstPrompt ??= text.slice(0, MAX_FIRST_PROMPT);
    keepNewest(state.asked, { key: keyOfText(text.trim()), text, logs: [log] }, MAX_ASKED);
    boundTexts(state.asked);
    this.hooks.onPrompt();
    this.writer.prompt(content, origin);
  }

  /** Shows a command that the person ran like a prompt, followed by its output. */
  ranByPerson(ran: PersonCommand, log: Log): Disposition {
    const key = keyOfText(ran.command.trim());
    const known = this.state.ran.find((each) => each.key === key && !each.logs.includes(log));
    if (known !== undefined) {
      known.logs.push(log);
      return folded("the person's command");
    }
    keepNewest(this.state.ran, { key, logs: [log] }, MAX_ASKED);
    const text = `! ${ran.command}`;
    this.writer.prompt({ text, parts: [{ type: "text", text }] }, "command");
    this.writer.marker("note", outputTitle(ran), outputBlock(ran), outputFacts(ran));
    return SHOWN;
  }

  private claimAsked(text: string, log: Log): boolean {
    if (this.state.asked.length === 0) return false;
    const key = keyOfText(text.trim());
    const known = this.state.asked.find(
      (each) =>
        !each.logs.includes(log) &&
        (each.key === key || (each.text !== undefined && isSamePrompt(each.text, text))),
    );
    known?.logs.push(log);
    return known !== undefined;
  }

  /** Reads a prompt in a log that repeats prompts. */
  userCopy(content: UserContent, log: Log): Disposition {
    this.state.hasConfirmations = true;
    if (this.claimAsked(content.text, log)) return folded("the same prompt");
    if (content.parts.length === 0) return hidden("empty message");
    this.ask(content, this.origin, log);
    return SHOWN;
  }
}

/** Drops the texts of the oldest prompts. */
function boundTexts(asked: readonly Asked[]): void {
  let bytes = 0;
  for (let at = asked.length - 1; at >= 0; at -= 1) {
    const each = asked[at];
    if (each?.text === undefined) continue;
    bytes += jsonBytes(each.text);
    if (bytes > MAX_ASKED_BYTES) delete each.text;
  }
}
