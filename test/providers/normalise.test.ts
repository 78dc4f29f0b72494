import { describe, expect, it } from "vitest";
import type { AssistantMessage, Message } from "../../src/model/messages/message.ts";
import type { Part } from "../../src/model/messages/part.ts";
import { type NormalMessage, normalise, type Target } from "../../src/providers/normalise.ts";

const TARGET: Target = { provider: "here", api: "openai-responses", model: "m" };
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let made = 0;
function common() {
  made += 1;
  return {
    id: `00000000-0000-4000-8000-${String(made).padStart(12, "0")}`,
    created_at: "2026-01-01T00:00:00.000Z",
  };
}
const image = (url = `data:image/png;base64,${PNG}`): Part => ({ type: "image_url", url });
const user = (text: string, ...parts: Part[]): Message => ({
  ...common(),
  role: "user",
  parts: [{ type: "text", text }, ...parts],
});
const developer = (text: string, ...parts: Part[]): Message => ({
  ...common(),
  role: "developer",
  parts: [{ type: "text", text }, ...parts],
});
const call = (call_id: string, given: Partial<Extract<Part, { type: "tool_call" }>> = {}): Part => ({
  type: "tool_call",
  call_id,
  tool_name: "read",
  arguments_json: "{}",
  ...given,
});
const says = (text: string): Part => ({ type: "text", text });
const same = (parts: Part[], given: Partial<AssistantMessage> = {}): AssistantMessage => ({
  ...common(),
  role: "assistant",
  stop_reason: "stop",
  provider: "here",
  api: "openai-responses",
  model_id: "m",
  parts,
  ...given,
});
const foreign = (parts: Part[], given: Partial<AssistantMessage> = {}) =>
  same(parts, { provider: "other", ...given });
const result = (
  call_id: string,
  output_text: string,
  given: Partial<Extract<Message, { role: "tool" }>> = {},
): Message => ({
  ...common(),
  role: "tool",
  call_id,
  tool_name: "read",
  status: "success",
  output_text,
  parts: [],
  ...given,
});

/** A history as one line per message. */
function outline(messages: readonly Message[], given: Partial<Target> = {}): string[] {
  return normalise(messages, { ...TARGET, ...given }).messages.map(lineOf);
}
function lineOf(message: NormalMessage): string {
  switch (message.role) {
    case "user":
      return `user: ${message.content.map((part) => (part.type === "text" ? JSON.stringify(part.text) : "image")).join(" ")}`;
    case "results":
      return `results: ${message.results
        .map(
          ({ call_id, status, text, images }) =>
            `${call_id} ${status} ${JSON.stringify(text)}${" image".repeat(images.length)}`,
        )
        .join(" | ")}`;
    case "assistant":
      return `assistant: ${message.parts
        .map((part) => {
          if (part.type === "text" || part.type === "thinking_text")
            return `${part.type} ${JSON.stringify(part.text)}`;
          if (part.type === "tool_call") return `call ${part.call_id}`;
          return part.type === "thinking_signature" ? `signature ${part.signature}` : part.type;
        })
        .join(" | ")}`;
    default:
      return message satisfies never;
  }
}

describe("a developer message", () => {
  it("is attached to the preceding user message, with its images after that one's", () => {
    expect(outline([user("Hi", image()), developer("one", image()), developer("two")])).toEqual([
      'user: "Hi" image "one\\ntwo\\n" image',
    ]);
  });

  it("is attached to the preceding result, even if that has no output", () => {
    expect(
      outline([
        user("Go"),
        same([call("a")]),
        result("a", ""),
        developer("note", image()),
        user("Next"),
      ]).slice(2),
    ).toEqual(['results: a success "(no output)\\nnote\\n" image', 'user: "Next"']);
  });

  it("is attached to the next user message after an answer, so that earlier messages do not change", () => {
    expect(outline([user("Hi"), same([says("Yes")]), developer("note"), user("Next")])).toEqual([
      'user: "Hi"',
      'assistant: text "Yes"',
      'user: "note\\n" "Next"',
    ]);
  });

  it("becomes a user message if no other follows", () => {
    expect(outline([developer("note"), same([says("Yes")])])).toEqual([
      'user: "note\\n"',
      'assistant: text "Yes"',
    ]);
    expect(outline([user("Hi"), same([says("Yes")]), developer("note")]).at(-1)).toBe('user: "note\\n"');
    expect(outline([developer("note"), user("Hi")])).toEqual(['user: "note\\n" "Hi"']);
  });

  it("is kept if the result that it follows is dropped", () => {
    expect(outline([user("Go"), result("gone", ""), developer("note")])).toEqual([
      'user: "Go"',
      'user: "note\\n"',
    ]);
    const twice = [user("Go"), same([call("a")]), result("a", "old"), developer("note"), result("a", "new")];
    expect(outline(twice).at(-1)).toBe('results: a success "new\\nnote\\n"');
  });
});

describe("calls and results", () => {
  it("correspond one to one: results directly after the calls, in their order", () => {
    const messages = [
      user("Go"),
      same([call("a"), call("b"), call("c")]),
      result("c", "3"),
      user("meanwhile"),
      result("a", "1"),
    ];
    expect(outline(messages).slice(1)).toEqual([
      "assistant: call a | call b | call c",
      'results: a success "1" | b error "No result: the call was not run" | c success "3"',
      'user: "meanwhile"',
    ]);
  });

  it("have a placeholder if a person stopped a call without a result", () => {
    const messages = [user("Go"), same([call("a")], { stop_reason: "aborted" }), user("Next")];
    expect(outline(messages)[2]).toBe('results: a error "Aborted by the user"');
  });

  it("are not sent if the call was incomplete", () => {
    const cut = [says("Half"), call("a", { unfinished: true }), call("b", { arguments_json: '{"cut' })];
    expect(
      outline([user("Go"), same(cut, { stop_reason: "length" }), result("a", "x"), user("Next")]),
    ).toEqual(['user: "Go"', 'assistant: text "Half"', 'user: "Next"']);
  });

  it("are paired with the newest call of an id, because ids repeat across turns", () => {
    const again = (provider_call_id: string, id: string) =>
      same([call(id, { provider_call_id })], { stop_reason: "tool_use" });
    const messages = [
      user("Go"),
      again("read:0", "x1"),
      result("x1", "1"),
      again("read:0", "x2"),
      result("x2", "2"),
    ];
    expect(outline(messages).slice(1)).toEqual([
      "assistant: call read:0",
      'results: read:0 success "1"',
      "assistant: call read:0",
      'results: read:0 success "2"',
    ]);
  });

  it("keep the content of a result whose call no longer exists", () => {
    expect(outline([user("Go"), result("gone", "42")])[1]).toBe(
      'user: "Result of an earlier call of read:\\n42"',
    );
  });

  it("get valid, stable ids for other models' calls and results", () => {
    const odd = "functions.read:0|x";
    const messages = [user("Go"), foreign([call(odd), call("fine")]), result(odd, "1"), result("fine", "2")];
    const [, calls, results] = outline(messages);
    const [, id] = /call (call_[0-9a-f]{32}) \| call fine/.exec(calls ?? "") ?? [];
    expect(id).toBeDefined();
    expect(results).toBe(`results: ${id} success "1" | fine success "2"`);
    expect(outline(messages)).toEqual(outline(structuredClone(messages)));
  });
});

describe("thoughts", () => {
  const signed: Part[] = [
    { type: "thinking_text", text: "T" },
    { type: "thinking_signature", signature: "S", format: "openai-responses" },
  ];
  const hidden: Part[] = [
    { type: "thinking_text", text: "", hidden: "encrypted" },
    { type: "thinking_signature", signature: "H", format: "openai-responses" },
  ];

  it("are sent back to their own model, only signed ones unless it accepts others", () => {
    const parts: Part[] = [...signed, ...hidden, { type: "thinking_text", text: "U" }, says("Yes")];
    expect(outline([user("Hi"), same(parts)])[1]).toBe(
      'assistant: thinking_text "T" | signature S | thinking_text "" | signature H | text "Yes"',
    );
    expect(outline([user("Hi"), same(parts)], { unsigned_thoughts: true })[1]).toContain('thinking_text "U"');
  });

  it("of another model become text in the current turn, and are omitted in earlier ones", () => {
    const turn = (prompt: string) => [user(prompt), foreign([...signed, ...hidden, says("Yes")])];
    expect(outline([...turn("One"), ...turn("Two")])).toEqual([
      'user: "One"',
      'assistant: text "Yes"',
      'user: "Two"',
      'assistant: text "<thinking>\\nT\\n</thinking>" | text "Yes"',
    ]);
  });

  it("are not sent if nothing followed them, nor is a refused answer", () => {
    expect(outline([user("Hi"), same(signed, { stop_reason: "aborted" }), user("Next")])).toEqual([
      'user: "Hi"',
      'user: "Next"',
    ]);
    const refused = same([says("I")], { stop_reason: "error", stop_reason_raw: "refusal" });
    expect(outline([user("Hi"), refused])).toEqual(['user: "Hi"']);
  });

  it("keep the carrier of a Google signature, and lose it together with its carrier", () => {
    const google: Part = { type: "thinking_signature", signature: "G", format: "google" };
    expect(outline([user("Hi"), same([says(""), google])])[1]).toBe('assistant: text "" | signature G');
    const cut = [says("Half"), call("a", { unfinished: true }), google];
    expect(outline([user("Hi"), same(cut, { stop_reason: "length" })])[1]).toBe('assistant: text "Half"');
    expect(outline([user("Hi"), foreign([says(""), google, says("Yes")])])[1]).toBe('assistant: text "Yes"');
  });
});

describe("texts and images", () => {
  it("of an answer precede its calls, with their thoughts, if the protocol requires it", () => {
    const parts = [call("a"), says(" "), says("Then"), call("b")];
    expect(outline([user("Hi"), same(parts)])[1]).toBe('assistant: text "Then" | call a | call b');
    expect(outline([user("Hi"), same(parts)], { text_before_calls: "foreign" })[1]).toBe(
      'assistant: call a | text "Then" | call b',
    );
  });

  it("that the model does not accept, or that are too large, are only named, oldest first", () => {
    expect(outline([user("Hi", image())], { images: false })).toEqual([
      'user: "Hi" "[An image was not sent: the model does not accept images]"',
    ]);
    const large = image(`data:image/png;base64,${PNG}${"A".repeat(7_000_000)}`);
    const heavy = image(`data:image/png;base64,${PNG}${"A".repeat(5_000_000)}`);
    expect(outline([user("Hi", large)])[0]).toContain("too large");
    const many = outline(Array.from({ length: 8 }, (_, at) => user(`${at}`, heavy)));
    expect(many.map((line) => line.endsWith("image"))).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(outline([user("Hi", { type: "image_file", file_path: "/tmp/shot.png" })])[0]).toContain(
      "/tmp/shot.png",
    );
  });
});
