/** Which of Codex's logs a record belongs to. */
export type Log = "item" | "event" | "completed" | "plan";

/** What the model said, as a response item tells it. */
export interface Base {
  kind: "text" | "thinking";
  id: string | undefined;
  /** A message's content entries; a thought's summaries. */
  texts: readonly string[];
}

/** The same as another log tells it: perhaps only one summary of a thought. */
export interface Copy extends Base {
  log: Log;
  phase?: string;
}

interface Said {
  logs: Set<Log>;
  part_id: string | undefined;
}

/** All that was said in the same words. */
interface Alike {
  said: Said[];
  /** How many of the first ones each log has told: a log never takes back what it told. */
  told: Map<Log, number>;
}

/** A plan and the message in which it stands are at most this many texts, or plans, apart. */
const MAX_BETWEEN = 256;

/**
 * What was said since the turn began, so that each thing is shown once however many logs tell it. A copy is taken for one
 * thing only: who says the same twice is shown twice.
 */
export class Copies {
  private readonly byText = new Map<string, Alike>();
  /** The last texts that were said, among which a plan is looked for. */
  private recent: { text: string; alike: Alike }[] = [];
  private readonly byId = new Map<string, Said>();
  /** Plans that were shown before the message in which they stand. */
  private plans: { text: string; said: Said }[] = [];
  /** Copies that were folded into the response item that follows. */
  private expected: Copy[] = [];

  clear(): void {
    this.byText.clear();
    this.recent = [];
    this.byId.clear();
    this.plans = [];
  }

  /** Whether a copy tells what was already shown by another log. */
  wasShown(copy: Copy): boolean {
    return this.find(copy, copy.log).length > 0;
  }

  /** Whether a copy tells (part of) what this response item tells. */
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

  /** Takes a record for another log's of the same thing, which was shown; `undefined`: it was not. */
  claim(record: Base, log: Log): Said | undefined {
    const found = this.find(record, log);
    for (const said of found) {
      said.logs.add(log);
      for (const copy of this.expected) said.logs.add(copy.log);
    }
    if (found.length > 0) this.expected = [];
    return found[0];
  }

  /** Notes what was shown from this log. */
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
    // Events tell a thought summary by summary.
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

  /** The first that a log has not told. */
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

  /** A plan stands between marks in a message. */
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
