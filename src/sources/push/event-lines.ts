import { createLineCutter } from "../../model/line-cutter.ts";
import { asObject, type JsonObject, messageOf } from "../../model/narrow.ts";

/** One event of a stream, or a line that is not an event. `line` is one-based. */
export type StreamEvent = { line: number; value: JsonObject } | { line: number; text: string; error: string };

/** Splits text, in any chunks, into JSON objects: server-sent events, one object per line, or both. */
interface EventLines {
  push(text: string): StreamEvent[];
  /** Reads the rest as if its line had ended. */
  end(): StreamEvent[];
  /** Length of lines that wait for the end of their event, in UTF-16 code units. */
  readonly waiting: number;
}

/** Lines are counted from 1 over all chunks. */
export function createEventLines(): EventLines {
  const cutter = createLineCutter();
  let line = 0;
  let data: { line: number; text: string }[] = [];
  let waiting = 0;
  let events: StreamEvent[] = [];

  const readJson = (at: number, text: string): StreamEvent => {
    try {
      const value = asObject(JSON.parse(text));
      if (value !== undefined) return { line: at, value };
      return { line: at, text, error: `Line ${at} is JSON but not an object` };
    } catch (error) {
      const why = messageOf(error);
      return { line: at, text, error: `Line ${at} is not JSON: ${why}` };
    }
  };
  /** A blank line ends an event of several data lines. If it is missing, each line is an event. */
  const dispatch = (): void => {
    const lines = data;
    data = [];
    waiting = 0;
    const [first] = lines;
    if (first === undefined) return;
    const whole = readJson(first.line, lines.map(({ text }) => text).join("\n"));
    if (lines.length === 1 || !("error" in whole)) events.push(whole);
    else for (const { line: at, text } of lines) events.push(readJson(at, text));
  };
  const readLine = (ended: string): void => {
    line += 1;
    const text = ended.endsWith("\r") ? ended.slice(0, -1) : ended;
    if (text.trim() === "") {
      dispatch();
      return;
    }
    const [, field, value] = /^(data|event|id|retry|):(?: ?)(.*)$/s.exec(text) ?? [];
    if (field === "data") {
      // Some streams end with `[DONE]`, which has no content.
      if (value === undefined || value.trim() === "[DONE]") return;
      data.push({ line, text: value });
      waiting += ended.length;
    } else if (field === undefined) {
      dispatch();
      events.push(readJson(line, text));
    }
    // The event's name is in its data. Ids and comments are for the transport only.
  };
  const take = (): StreamEvent[] => {
    const taken = events;
    events = [];
    return taken;
  };

  return {
    push(text) {
      for (const ended of cutter.push(text)) readLine(ended);
      return take();
    },
    end() {
      const rest = cutter.end();
      if (rest !== "") readLine(rest);
      dispatch();
      return take();
    },
    get waiting() {
      return waiting;
    },
  };
}
