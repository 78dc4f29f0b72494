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
interface ShownOutput {
  kind: Base["kind"];
  /** Its text (see `keyOfText`); absent: it is found by its id only. */
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
  said: ShownOutput[];
  /** Logs of copies that were folded into the following response item. */
  expected: Log[];
  /** Bytes of the texts and plans. */
  searched: number;
}

/** Maximum number of outputs between an output and its copy. */
const MAX_OUTPUTS = 64;
/** Maximum bytes of texts and plans that are searched for each other. */
const MAX_SEARCHED = 16 * 1024;

/** The end of the tags around a plan: `<proposed_plan>`. */
const PLAN_END = "plan>";

export const initialCopies = (): CopiesState => ({ said: [], expected: [], searched: 0 });

/**
 * Model output since the start of the turn, so that each output is shown once however many logs contain it. A copy matches one
 * output only: a repeated text is shown twice.
 */
export class Copies {
  private readonly state: CopiesState;
  /** Outputs from before reading resumed, by kind and key, oldest first. */
  private readonly byKey = new Map<string, ShownOutput[]>();
  /** Later outputs, which are all newer, by their text. Their keys are made when the state is saved. */
  private readonly byText = {
    text: new Map<string, ShownOutput[]>(),
    thinking: new Map<string, ShownOutput[]>(),
  };
  private readonly texts = new Map<ShownOutput, string>();
  /** The newest output of each item. */
  private readonly byId = new Map<string, ShownOutput>();

  constructor(state: CopiesState) {
    this.state = state;
    for (const output of state.said) {
      if (output.id !== undefined) this.byId.set(output.id, output);
      if (output.key !== undefined) addTo(this.byKey, `${output.kind}:${output.key}`, output);
    }
  }

  /** Completes the state before it is saved. */
  save(): void {
    for (const [output, text] of this.texts) output.key ??= keyOfText(text);
  }

  clear(): void {
    this.state.said = [];
    this.state.searched = 0;
    this.texts.clear();
    for (const map of [this.byKey, this.byId, this.byText.text, this.byText.thinking]) map.clear();
  }

  private dropOldest(): void {
    const oldest = this.state.said.shift();
    if (oldest === undefined) return;
    this.state.searched -= searchedBytes(oldest);
    const { id, key, kind } = oldest;
    if (id !== undefined && this.byId.get(id) === oldest) this.byId.delete(id);
    const text = this.texts.get(oldest);
    this.texts.delete(oldest);
    if (text !== undefined) dropFirst(this.byText[kind], text);
    else if (key !== undefined) dropFirst(this.byKey, `${kind}:${key}`);
  }

  /** The oldest output with this text that a log has not recorded. */
  private ofText(kind: Base["kind"], text: string, log: Log): ShownOutput | undefined {
    const isMissing = ({ logs }: ShownOutput): boolean => !logs.includes(log);
    const before = this.byKey.size === 0 ? undefined : this.byKey.get(`${kind}:${keyOfText(text)}`);
    return before?.find(isMissing) ?? this.byText[kind].get(text)?.find(isMissing);
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
  claim(record: Base, log: Log): ShownOutput | undefined {
    const found = this.find(record, log);
    for (const output of found) {
      addLog(output.logs, log);
      for (const expected of this.state.expected) addLog(output.logs, expected);
    }
    if (found.length > 0) this.state.expected = [];
    return found[0];
  }

  /** Records output that was shown from this log. */
  shown(record: Base, log: Log, part_id?: string): void {
    const logs: Log[] = [log];
    for (const expected of this.state.expected) addLog(logs, expected);
    this.state.expected = [];
    const { kind } = record;
    const part = part_id === undefined ? {} : { part_id };
    const id = record.id === undefined ? {} : { id: keyOfText(record.id) };
    if (kind === "text") {
      const text = record.texts.join("\n");
      const searched = log === "plan" ? { plan: text.trim() } : text.includes(PLAN_END) ? { text } : {};
      this.add({ kind, ...id, logs, ...part, ...searched }, text);
      return;
    }
    // Events contain each summary of a thought separately.
    if (record.id !== undefined) this.add({ kind, ...id, logs, ...part });
    for (const text of record.texts) this.add({ kind, logs: [...logs], ...part }, text);
  }

  private add(output: ShownOutput, text?: string): void {
    const { state } = this;
    state.said.push(output);
    if (output.id !== undefined) this.byId.set(output.id, output);
    if (text !== undefined) {
      this.texts.set(output, text);
      addTo(this.byText[output.kind], text, output);
    }
    state.searched += searchedBytes(output);
    if (state.said.length > MAX_OUTPUTS) this.dropOldest();
    for (const each of state.said) {
      if (state.searched <= MAX_SEARCHED) break;
      state.searched -= searchedBytes(each);
      delete each.text;
      delete each.plan;
    }
  }

  private find(record: Base, log: Log): ShownOutput[] {
    const byId = record.id === undefined ? undefined : this.byId.get(keyOfText(record.id));
    if (byId !== undefined && !byId.logs.includes(log)) return [byId];
    if (log === "plan") return this.findPlan(record);
    const texts = record.kind === "text" ? [record.texts.join("\n")] : record.texts;
    const found: ShownOutput[] = [];
    for (const text of texts) {
      const output = this.ofText(record.kind, text, log);
      if (output === undefined) {
        const plan = record.kind === "text" ? this.planIn(text, log) : undefined;
        return plan === undefined ? [] : [plan];
      }
      found.push(output);
    }
    return found;
  }

  /** A plan that a message contains. */
  private planIn(text: string, log: Log): ShownOutput | undefined {
    if (this.state.searched === 0) return undefined;
    return this.state.said.find(
      ({ plan, logs }) => plan !== undefined && text.includes(plan) && !logs.includes(log),
    );
  }

  /** Finds plans in a message, where they are enclosed in tags. */
  private findPlan(record: Base): ShownOutput[] {
    const plan = (record.texts[0] ?? "").trim();
    const output = this.state.said.find(
      (each) => each.text?.includes(plan) === true && !each.logs.includes("plan"),
    );
    return output === undefined ? [] : [output];
  }
}

const searchedBytes = ({ text, plan }: ShownOutput): number =>
  (text === undefined ? 0 : jsonBytes(text)) + (plan === undefined ? 0 : jsonBytes(plan));

function addLog(logs: Log[], log: Log): void {
  if (!logs.includes(log)) logs.push(log);
}

function addTo(map: Map<string, ShownOutput[]>, key: string, output: ShownOutput): void {
  const outputs = map.get(key);
  if (outputs === undefined) map.set(key, [output]);
  else outputs.push(output);
}

function dropFirst(map: Map<string, ShownOutput[]>, key: string): void {
  const outputs = map.get(key);
  outputs?.shift();
  if (outputs?.length === 0) map.delete(key);
}
