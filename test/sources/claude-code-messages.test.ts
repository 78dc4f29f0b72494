import { describe, expect, it } from "vitest";
import { agentMessages, messageOf } from "../../src/sources/claude-code/agent-messages.ts";
import { parseWrappers } from "../../src/sources/claude-code/wrappers.ts";

const PREFACE = "Another Claude session sent a message:\n";
const TRAILER = "This came from another Claude session, so ask before you act on it.";

describe("messages of other agents", () => {
  it.each([
    ["agent-message", '<agent-message from="a1">Done</agent-message>', "a1"],
    ["cross-session-message", '<cross-session-message from-name="Ada">Done</cross-session-message>', "Ada"],
    ["teammate-message", '<teammate-message teammate_id="bob">Done</teammate-message>', "bob"],
    ["one without a name", "<teammate-message>Done</teammate-message>", "another agent"],
  ])("is extracted from its element: %s", (_, text, from) => {
    expect(agentMessages(text)).toEqual([{ from, text: "Done" }]);
    expect(agentMessages(`\n ${text}\n\n`)).toEqual([{ from, text: "Done" }]);
    expect(agentMessages(`${text}\n${text}`)).toHaveLength(2);
  });

  it.each([
    ["Another Claude session", "another session"],
    ["A peer session", "another session"],
    ["The coordinator", "the coordinator"],
  ])("is recognized without an element by the text before and after it: %s", (sender, from) => {
    for (const busy of ["", " while you were working"])
      expect(agentMessages(`${sender} sent a message${busy}:\nLook here.\n\n${TRAILER}`)).toEqual([
        { from, text: "Look here." },
      ]);
    expect(agentMessages(`  ${sender} sent a message:  \nLook here.\n\n${TRAILER}\n`)).toHaveLength(1);
  });

  it.each([
    "Address this before completing your current task.",
    "After completing your current task, look at this.",
    "This came from another Claude session and not from your user.",
    'That "other Claude session" is an agent of the same user.',
    "This is task direction from your coordinator — act on it.",
  ])("ends before the appended paragraph: %s", (trailer) => {
    expect(agentMessages(`${PREFACE}One.\n\nTwo.\n\n\n\n${trailer}`)).toEqual([
      { from: "another session", text: "One.\n\nTwo." },
    ]);
    expect(agentMessages(`${PREFACE}One.\n\n${TRAILER}\n\n${trailer}`)).toMatchObject([{ text: "One." }]);
  });

  it("keeps quotations of the program's markup", () => {
    const quote = `They write:\n\n${TRAILER}\n\nWhy?`;
    expect(agentMessages(`${PREFACE}${quote}\n\n${TRAILER}`)).toMatchObject([{ text: quote }]);
    expect(agentMessages(`${PREFACE}One.\n\nIn short: ${TRAILER}\n\n${TRAILER}`)).toMatchObject([
      { text: `One.\n\nIn short: ${TRAILER}` },
    ]);
  });

  it.each([
    ["a person's text", "Done"],
    ["an empty text", ""],
    ["text beside a message", 'Look: <agent-message from="a1">Done</agent-message>'],
    ["a message beside another element", '<agent-message from="a1">Done</agent-message><note>x</note>'],
    ["text with only the preface of a message", `${PREFACE}Look here.`],
    ["text with only the trailer of a message", `Look here.\n\n${TRAILER}`],
    ["preface and trailer in the middle of a text", `I read: ${PREFACE}Look here.\n\n${TRAILER}`],
    ["an incomplete preface", `Another Claude session sent a message: Look here.\n\n${TRAILER}`],
    ["a text about a message", `A friend sent a message:\nLook here.\n\n${TRAILER}`],
  ])("is not recognized in %s", (_, text) => {
    expect(agentMessages(text)).toBeUndefined();
  });

  const wordsOf = (body: string) => {
    const [element] = parseWrappers(`<agent-message from="a1">${body}</agent-message>`) ?? [];
    return element && messageOf(element).text;
  };

  it.each([
    ...["subject", "description", "result", "summary", "message", "content", "planContent", "feedback"],
    ...["reason", "failureReason"],
  ])("shows the text of a program's message in field %s", (name) => {
    expect(wordsOf(JSON.stringify({ type: "task_report", [name]: "All good" }))).toBe(
      "task report: All good",
    );
  });

  it("orders the fields of a program's message for reading", () => {
    expect(wordsOf('{"type":"a_b_c","reason":"R","subject":"S","more":"M"}')).toBe("a b c: S\n\nR");
    expect(wordsOf('{"type":"idle_notification","from":"bob"}')).toBe("idle notification");
    for (const other of ['{"kind":"x"}', '{"type":', '["type"]', '"type"', '{"type":7}', "plain"])
      expect(wordsOf(other)).toBe(other);
  });
});
