import { asNumber, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
import { foldTitle } from "../../model/text/fold-titles.ts";
import type { Disposition } from "../contract.ts";
import { keyOfText } from "./bounds.ts";
import { folded, hidden, SHOWN } from "./disposition.ts";
import { messageOf } from "./notices.ts";
import type { TurnWriter } from "./turn-writer.ts";
import { readUsage } from "./usage.ts";

/** What `TurnRecords` keeps between two records. Plain JSON. */
export interface TurnRecordsState {
  /** The logs that have recorded the latest compaction, while nothing else was said. */
  compaction?: string[] | undefined;
  interrupted: boolean;
  /** The error that was shown in the open turn, in the form of `keyOfText`. */
  lastError?: string | undefined;
}

/** Reads how turns end, and what interrupts them. */
export class TurnRecords {
  private readonly writer: TurnWriter;
  private readonly state: TurnRecordsState;
  private readonly onCompaction: () => void;

  /** `onCompaction`: called before each is shown. */
  constructor(writer: TurnWriter, state: TurnRecordsState, onCompaction: () => void) {
    this.writer = writer;
    this.state = state;
    this.onCompaction = onCompaction;
  }

  /** Called when something was said: a later record cannot repeat an earlier compaction or interrupt. */
  forget(): void {
    this.state.compaction = undefined;
    this.state.interrupted = false;
  }

  started(): void {
    this.forget();
    this.state.lastError = undefined;
  }

  failed(payload: JsonObject): Disposition {
    const message = messageOf(payload) ?? foldTitle("error");
    this.state.lastError = keyOfText(typeof message === "string" ? message : message.text);
    this.writer.error(message, false, payload);
    return SHOWN;
  }

  taskComplete(payload: JsonObject): Disposition {
    const { writer } = this;
    const error = asObject(payload.error);
    const message = asText(error?.message) ?? asText(payload.error);
    const last = asText(payload.last_agent_message);
    let shown = false;
    // The answer was already shown, unless no text of this turn was recorded.
    if (last !== undefined && writer.turn !== undefined && writer.turn.texts === 0) {
      writer.addText("text", last);
      shown = true;
    }
    if (message !== undefined && keyOfText(message) !== this.state.lastError) {
      writer.closeStep(undefined);
      writer.error(message, false, error);
      shown = true;
    }
    // Before 0.169 errors are separate records, and this record does not mention them.
    const failed = message !== undefined || writer.turn?.failed === true;
    writer.closeTurn(failed ? "failed" : "completed");
    return shown ? SHOWN : folded("the turn");
  }

  /** Reads the end of a turn in files of late 2025. */
  turnCompleted(payload: JsonObject): Disposition {
    const usage = readUsage(asObject(payload.usage));
    const counted = usage !== undefined && this.writer.countUsage(usage);
    if (this.writer.turn === undefined && !counted) return hidden("turn without content");
    this.writer.closeTurn("completed");
    return folded("the turn");
  }

  interrupt(reason: string | undefined): Disposition {
    if (this.state.interrupted) return folded("the interrupt");
    this.state.interrupted = true;
    this.writer.interrupt(reason);
    return SHOWN;
  }

  /** Reads that the context was compacted. Each log may record it. */
  compact(log: string, text: string | undefined, payload: JsonObject | undefined): Disposition {
    const { compaction } = this.state;
    if (compaction !== undefined && !compaction.includes(log)) {
      compaction.push(log);
      return folded("the compaction");
    }
    this.onCompaction();
    const window = asNumber(payload?.window_number);
    this.writer.marker("compaction", codexTitle("codex_context_compacted", { window }), text);
    this.state.compaction = [log];
    return SHOWN;
  }
}
