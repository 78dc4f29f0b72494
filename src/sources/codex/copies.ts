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

interface Said {
  logs: Set<Log>;
  part_id: string | undefined;
}

/** All outputs with the same text. */
interface Alike {
  said: Said[];
  /** Number of leading entries that each log has recorded. A log never takes back an entry. */
  told: Map<Log, number>;
}

/** Maximum number of texts or plans between a plan and the message that contains it. */
const MAX_BETWEEN = 256;

/**
 * Model output since the start of the turn, so that each output is shown once however many logs contain it. A copy matches one
 * output only: a repeated text is shown twice.
 */
export class Copies {
  private readonly byText = new Map<string, Alike>();
  /** Recent texts, which are searched for a plan. */
  private recent: { text: string; alike: Alike }[] = [];
  private readonly byId = new Map<string, Said>();
  /** Plans that were shown before the message that contains them. */
  private plans: { text: string; said: Said }[] = [];
  /** Copies that were folded into the following response item. */
  private expected: Copy[] = [];

  clear(): void {
    this.byText.clear();
    this.recent = [];
    this.byId.clear();
    this.plans = [];
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
    this.expected.push(copy);
  }

  /** Matches a record with the same output from another log; `undefined`: it was not shown. */
  claim(record: Base, log: Log): Said | undefined {
    const found = this.find(record, log);
    for (const said of found) {
      said.logs.add(log);
      for (const copy of this.expected) said.logs.add(copy.log);
    }
    if (found.length > 0) this.expected = [];
    return found[0];
  }

  /** Records output that was shown from this log. */
  shown(record: Base, log: Log, part_id?: string): void {
    const logs = new Set<Log>([log]);
    for (const copy of this.expected) logs.add(copy.log);
    this.expected = [];
    const whole: Said = { logs, part_id };
    if (record.id !== undefined) this.byId.set(record.id, whole);
    if (log === "plan") {
      this.plans.push({ text: (record.texts[0] ?? "").trim(), said: whole });
      if (this.plans.length > MAX_BETWEEN) this.plans.shift();
    }
    if (record.kind === "text") {
      this.add(record.kind, record.texts.join("\n"), whole);
      return;
    }
    // Events contain each summary of a thought separately.
    for (const text of record.texts) this.add(record.kind, text, { logs: new Set(logs), part_id });
  }

  private add(kind: Base["kind"], text: string, said: Said): void {
    const key = keyOf(kind, text);
    const known = this.byText.get(key);
    if (known !== undefined) {
      known.said.push(said);
      return;
    }
    const alike: Alike = { said: [said], told: new Map() };
    this.byText.set(key, alike);
    if (kind !== "text") return;
    this.recent.push({ text, alike });
    if (this.recent.length > MAX_BETWEEN) this.recent.shift();
  }

  /** The first entry that a log has not recorded. */
  private untold({ said, told }: Alike, log: Log): Said | undefined {
    let count = told.get(log) ?? 0;
    while (said[count]?.logs.has(log)) count += 1;
    told.set(log, count);
    return said[count];
  }

  private find(record: Base, log: Log): Said[] {
    const byId = record.id === undefined ? undefined : this.byId.get(record.id);
    if (byId !== undefined && !byId.logs.has(log)) return [byId];
    if (log === "plan") return this.findPlan(record);
    const texts = record.kind === "text" ? [record.texts.join("\n")] : record.texts;
    const found: Said[] = [];
    for (const text of texts) {
      const alike = this.byText.get(keyOf(record.kind, text));
      const said = alike && this.untold(alike, log);
      if (said === undefined) {
        const plan = this.plans.find((each) => !each.said.logs.has(log) && text.includes(each.text));
        return plan === undefined || record.kind !== "text" ? [] : [plan.said];
      }
      found.push(said);
    }
    return found;
  }

  /** Finds plans in a message, where they are enclosed in tags. */
  private findPlan(record: Base): Said[] {
    const plan = (record.texts[0] ?? "").trim();
    for (const { text, alike } of this.recent) {
      const open = this.untold(alike, "plan");
      if (open !== undefined && text.includes(plan)) return [open];
    }
    return [];
  }
}

const keyOf = (kind: Base["kind"], text: string): string => `${kind}:${text}`;
