import { describe, expect, it } from "vitest";
import { createFrameWriter } from "../../src/model/frames/frame-writer.ts";
import { createOrderChecker } from "../../src/model/frames/order.ts";
import { partId } from "../../src/model/uuid.ts";
import { id } from "./generate.ts";

const SESSION = id(1, 1);

function writer() {
  let messages = 0;
  let clock = 0;
  const writing = createFrameWriter({
    session_id: SESSION,
    nextMessageId: () => {
      messages += 1;
      return id(3, messages);
    },
    now: () => {
      clock += 1;
      return clock;
    },
  });
  /** The frames written since, without common fields, checked for a valid order. */
  const checker = createOrderChecker();
  const taken = () =>
    writing.take().map((frame) => {
      expect(checker.check(frame)).toEqual([]);
      const { session_id, at, ...rest } = frame;
      expect(session_id).toBe(SESSION);
      expect(at).toBeGreaterThan(0);
      return rest;
    });
  return { writing, taken };
}
const part = (message: number, number: number) => partId(id(3, message), number);
const began = (message: number) => ({ type: "message.start", message_id: id(3, message) });
const ended = (message: number) => ({ type: "message.end", message_id: id(3, message) });
const opened = (message: number, number: number, kind = "text") => ({
  type: "message.part_start",
  part_id: part(message, number),
  kind,
});
const said = (message: number, number: number, text: string, offset = 0, kind = "text") => ({
  type: "message.delta",
  kind,
  text,
  part_id: part(message, number),
  offset,
});
const closed = (message: number, number: number) => ({
  type: "message.part_end",
  part_id: part(message, number),
});

describe("a frame writer", () => {
  it("opens a message when there is output, and a part whenever kind or key changes", () => {
    const { writing, taken } = writer();
    expect(writing.isEmpty).toBe(true);
    expect(writing.message_id).toBeUndefined();
    expect(writing.appendText("text", "ab")).toBe(part(1, 1));
    expect(writing.message_id).toBe(id(3, 1));
    writing.appendText("text", "c");
    writing.appendText("text", "d", "key");
    writing.appendText("text", "e", "key");
    writing.appendText("thinking", "f", "key");
    writing.appendText("thinking", "");
    expect(writing.isEmpty).toBe(false);
    expect(taken()).toStrictEqual([
      began(1),
      opened(1, 1),
      said(1, 1, "ab"),
      said(1, 1, "c", 2),
      closed(1, 1),
      opened(1, 2),
      said(1, 2, "d"),
      said(1, 2, "e", 1),
      closed(1, 2),
      opened(1, 3, "thinking"),
      said(1, 3, "f", 0, "thinking"),
      closed(1, 3),
      opened(1, 4, "thinking"),
    ]);
    expect(writing.isEmpty).toBe(true);
    expect(taken()).toEqual([]);
  });

  it("ends the open part if it matches, with the fields of a thought", () => {
    const { writing, taken } = writer();
    writing.endPart();
    writing.appendText("thinking", "a", "key");
    writing.endPart("other");
    writing.appendText("thinking", "b", "key");
    writing.endPart("key", { signature: "s", format: "f" });
    writing.endPart();
    writing.appendText("text", "c");
    writing.endPart("key");
    writing.endPart();
    expect(taken().slice(1)).toStrictEqual([
      opened(1, 1, "thinking"),
      said(1, 1, "a", 0, "thinking"),
      said(1, 1, "b", 1, "thinking"),
      { ...closed(1, 1), signature: "s", format: "f" },
      opened(1, 2),
      said(1, 2, "c"),
      closed(1, 2),
    ]);
  });

  it("ends the text before a call, an image or a file, and opens a message for them", () => {
    const acts: [(writing: ReturnType<typeof writer>["writing"]) => void, object][] = [
      [
        (writing) => writing.startCall("x", "Read"),
        { type: "message.tool_call_start", tool_call_id: "x", tool_name: "Read" },
      ],
      [
        (writing) => writing.call("x", "Read", "{}"),
        { type: "message.tool_call", tool_call_id: "x", tool_name: "Read", arguments_json: "{}" },
      ],
      [(writing) => writing.image("data:,"), { type: "message.image", url: "data:," }],
      [
        (writing) => writing.file({ mime: "a/b", url: "data:," }),
        { type: "message.file", mime: "a/b", url: "data:," },
      ],
    ];
    for (const [act, frame] of acts) {
      const alone = writer();
      act(alone.writing);
      const media = "url" in frame;
      expect(alone.taken()).toStrictEqual([began(1), media ? { ...frame, part_id: part(1, 1) } : frame]);
      const behind = writer();
      behind.writing.appendText("text", "a");
      act(behind.writing);
      expect(behind.taken().slice(3)).toStrictEqual([
        closed(1, 1),
        media ? { ...frame, part_id: part(1, 2) } : frame,
      ]);
    }
  });

  it("ends a message once, with its part, and then begins a new one", () => {
    const { writing, taken } = writer();
    writing.endMessage();
    writing.startMessage({ model: "m", response_id: "r" });
    writing.appendText("text", "a");
    writing.endMessage({ stop_reason: "stop", stop_reason_raw: "end", usage: { input: 1, output: 1 } });
    writing.endMessage();
    writing.startMessage();
    writing.startMessage();
    expect(taken()).toStrictEqual([
      { ...began(1), model: "m", response_id: "r" },
      opened(1, 1),
      said(1, 1, "a"),
      closed(1, 1),
      { ...ended(1), stop_reason: "stop", stop_reason_raw: "end", usage: { input: 1, output: 1 } },
      began(2),
      ended(2),
      began(3),
    ]);
    expect(writing.nextPartId()).toBe(part(3, 1));
    writing.endMessage();
    // After a message, part ids continue from its last one.
    expect(writing.nextPartId()).toBe(part(3, 2));
    const { writing: fresh } = writer();
    expect(fresh.nextPartId()).toBe(part(1, 1));
    expect(fresh.message_id).toBeUndefined();
  });

  it("drops a message that an interrupt ends, and writes any frame unchanged", () => {
    const { writing, taken } = writer();
    writing.appendText("text", "a");
    writing.put({ type: "context.usage", tokens: 1 });
    writing.dropMessage();
    expect(writing.message_id).toBeUndefined();
    writing.put({ type: "interrupt" });
    writing.appendText("text", "b");
    expect(taken()).toStrictEqual([
      began(1),
      opened(1, 1),
      said(1, 1, "a"),
      { type: "context.usage", tokens: 1 },
      { type: "interrupt" },
      began(2),
      opened(2, 1),
      said(2, 1, "b"),
    ]);
  });
});
