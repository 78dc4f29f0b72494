import { jsonBytes, keyOfText } from "./bounds.ts";

/** Which of Codex's logs a record belongs to. */
export type Log = "item" | "event" | "completed" | "plan";

/** Model output in a response item. */
export interface Base {
  kind: "text" | "thinking";
  id: string | undefined;
  /** A message's content entries; a thought's summaries. */
  texts: readonly string[];
}

/** The same output in another log, which may contain only one summary of a thought. */
export interface Copy extends Base {
  log: Log;
  phase?: string;
}

/** One output that was shown. */
interface Said {
  /** Kind and text (see `keyOfText`); absent: it is found by its id only. */
  key?: string;
  /** Id of its item (see `keyOfText`). */
  id?: string;
  /** The logs that have recorded it. A log never takes back an entry. */
  logs: Log[];
  part_id?: string;
  /** A text that may contain a plan. */
  text?: string;
  /** A plan that was shown before the message that contains it. */
  plan?: string;
}

/** What `Copies` keeps between two records. Plain JSON. */
export interface CopiesState {
  /** Oldest first. */
  said: Said[];
  /** Logs of copies that were folded into the following response item. */
  expected: Log[];
  /** Bytes of the texts and plans. */
  searched: number;
}

/** Maximum number of outputs between an output and its copy. */
const MAX_SAID = 96;
/** Maximum bytes of texts and plans that are searched for each other. */
const MAX_SEARCHED = 16 * 1024;

export const initialCopies = (): CopiesState => ({ said: [], expected: [], searched: 0 });

/**
 * Model output since the start of the turn, so that each output is shown once however many logs contain it. A copy matches one
 * output only: a repeated text is shown twice.
 */
export class Copies {
  private readonly state: CopiesState;

  constructor(state: CopiesState) {
    this.state = state;
  }

  clear(): void {
    this.state.said = [];
    this.state.searched = 0;
  }

  /** Whether the output of a copy was already shown from another log. */
  wasShown(copy: Copy): boolean {
    return this.find(copy, copy.log).length > 0;
  }

  /** Whether a copy repeats this response item or part of it. */
  belongsTo(copy: Copy, base: Base): boolean {
    if (copy.kind !== base.kind) return false;
    if (copy.id !== undefined && base.id !== undefined) return copy.id === base.id;
    if (copy.log === "plan") return base.texts.some((text) => text.includes((copy.texts[0] ?? "").trim()));
    return (
      copy.texts.join("\n") === base.texts.join("\n") || copy.texts.every((text) => base.texts.includes(text))
    );
  }

  expect(copy: Copy): void {
    addLog(this.state.expected, copy.log);
  }

  /** Matches a record with the same output from another log; `undefined`: it was not shown. */
  claim(record: Base, log: Log): Said | undefined {
    const found = this.find(record, log);
    for (const said of found) {
      addLog(said.logs, log);
      for (const expected of this.state.expected) addLog(said.logs, expected);
    }
    if (found.length > 0) this.state.expected = [];
    return found[0];
  }

  /** Records output that was shown from this log. */
  shown(record: Base, log: Log, part_id?: string): void {
    const logs: Log[] = [log];
    for (const expected of this.state.expected) addLog(logs, expected);
    this.state.expected = [];
    const common = part_id === undefined ? {} : { part_id };
    const id = record.id === undefined ? {} : { id: keyOfText(record.id) };
    if (record.kind === "text") {
      const text = record.texts.join("\n");
      const searched = log === "plan" ? { plan: text.trim() } : { text };
      this.add({ key: keyOf(record.kind, text), ...id, logs, ...common, ...searched });
      return;
    }
    // Events contain each summary of a thought separately.
    if (record.id !== undefined) this.add({ ...id, logs, ...common });
    for (const text of record.texts) this.add({ key: keyOf(record.kind, text), logs: [...logs], ...common });
  }

  private add(said: Said): void {
    const { state } = this;
    state.said.push(said);
    state.searched += searchedBytes(said);
    if (state.said.length > MAX_SAID) {
      const oldest = state.said.shift();
      if (oldest !== undefined) state.searched -= searchedBytes(oldest);
    }
    for (const each of state.said) {
      if (state.searched <= MAX_SEARCHED) break;
      state.searched -= searchedBytes(each);
      delete each.text;
      delete each.plan;
    }
  }

  private find(record: Base, log: Log): Said[] {
    const byId = record.id === undefined ? undefined : this.ofId(record.id);
    if (byId !== undefined && !byId.logs.includes(log)) return [byId];
    if (log === "plan") return this.findPlan(record);
    const texts = record.kind === "text" ? [record.texts.join("\n")] : record.texts;
    const found: Said[] = [];
    for (const text of texts) {
      const key = keyOf(record.kind, text);
      const said = this.state.said.find((each) => each.key === key && !each.logs.includes(log));
      if (said === undefined) {
        const plan = this.state.said.find((each) => isPlanIn(each, text) && !each.logs.includes(log));
        return plan === undefined || record.kind !== "text" ? [] : [plan];
      }
      found.push(said);
    }
    return found;
  }

  /** The newest output of an item with this id. */
  private ofId(id: string): Said | undefined {
    const key = keyOfText(id);
    return this.state.said.findLast((each) => each.id === key);
  }

  /** Finds plans in a message, where they are enclosed in tags. */
  private findPlan(record: Base): Said[] {
    const plan = (record.texts[0] ?? "").trim();
    const said = this.state.said.find(
      (each) => each.text?.includes(plan) === true && !each.logs.includes("plan"),
    );
    return said === undefined ? [] : [said];
  }
}

const isPlanIn = ({ plan }: Said, text: string): boolean => plan !== undefined && text.includes(plan);

const searchedBytes = ({ text, plan }: Said): number =>
  (text === undefined ? 0 : jsonBytes(text)) + (plan === undefined ? 0 : jsonBytes(plan));

function addLog(logs: Log[], log: Log): void {
  if (!logs.includes(log)) logs.push(log);
}

const keyOf = (kind: Base["kind"], text: string): string => `${kind}:${keyOfText(text)}`;
