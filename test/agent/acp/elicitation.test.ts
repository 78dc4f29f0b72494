import { expect, it } from "vitest";
import type { Answer, Request } from "../../../src/model/request.ts";
import type { ActingHost } from "./acting-host.ts";
import { hears, opened, type ScriptLine, says } from "./script.ts";
import { closeMadeAgents, setUp } from "./set-up.ts";

closeMadeAgents();

const FORM = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", description: "Of the release", minLength: 2 },
    count: { type: "integer", minimum: 1, maximum: 9 },
    target: {
      type: "string",
      title: "Target",
      oneOf: [
        { const: "test", title: "Test" },
        { const: "live", title: "Live", description: "Customers see it" },
      ],
    },
    checks: {
      type: "array",
      title: "Checks",
      items: { type: "string", enum: ["lint", "unit", "e2e"] },
      minItems: 1,
    },
    notify: { type: "boolean", title: "Notify" },
  },
  required: ["name", "count", "target", "checks"],
};

const chosen = (...option_ids: string[]): Answer => ({ option_ids });
const said = (text: string): Answer => ({ option_ids: [], text });

/** A turn in which the agent shows a form and then prints the reply. Each question gets the next answer; without one it waits. */
async function fillIn(
  schema: object,
  answers: (Answer | undefined)[],
  more: { before?: ScriptLine[]; fields?: object } = {},
) {
  const left = [...answers];
  const { host, ask } = setUp(
    [
      ...opened,
      hears.prompt(2),
      ...(more.before ?? []),
      says.form(7, schema, more.fields),
      says.reply(7),
      says.result(2),
    ],
    { answer: () => Promise.resolve(left.shift()) },
  );
  expect(await ask("Deploy it")).toBe("completed");
  expect(left).toEqual([]);
  expect(host.violations).toEqual([]);
  return { host, reply: replyOf(host) };
}

/** The reply that the agent got, from its last text. */
function replyOf(host: ActingHost): unknown {
  const text = host.parts().findLast((part) => part.type === "text");
  return JSON.parse(text?.type === "text" ? text.text : "null");
}

const asked = ({ title, options, multiple, free_text }: Request) => ({
  title,
  options: options.map(({ label }) => label),
  ...(multiple && { multiple }),
  ...(free_text && { free_text }),
});

it("asks for each field of a form, lets the user review the answers, and sends them", async () => {
  const { host, reply } = await fillIn(FORM, [
    said("v2"),
    said("3"),
    chosen("1"),
    chosen("0", "2"),
    chosen("1"),
    chosen("send"),
  ]);
  expect(reply).toEqual({
    action: "accept",
    content: { name: "v2", count: 3, target: "live", checks: ["lint", "e2e"], notify: false },
  });
  expect(host.requests.map(asked)).toEqual([
    { title: "Deploy (1 of 5): Name", options: ["Decline", "Cancel"], free_text: true },
    { title: "Deploy (2 of 5): count", options: ["Decline", "Cancel"], free_text: true },
    { title: "Deploy (3 of 5): Target", options: ["Test", "Live", "Decline", "Cancel"] },
    {
      title: "Deploy (4 of 5): Checks",
      options: ["lint", "unit", "e2e", "Decline", "Cancel"],
      multiple: true,
    },
    { title: "Deploy (5 of 5): Notify", options: ["Yes", "No", "Leave empty", "Decline", "Cancel"] },
    { title: "Deploy", options: ["Send", "Change the answers", "Decline", "Cancel"] },
  ]);
  expect(host.requests[0]).toMatchObject({
    kind: "question",
    title_code: { code: "form_field", params: { message: "Deploy", at: 1, of: 5, label: "Name" } },
    subject: "Of the release",
  });
  expect(host.requests[2]?.options[1]).toMatchObject({ description: "Customers see it" });
  expect(host.requests[5]?.subject).toBe(
    "Name: v2\ncount: 3\nTarget: live\nChecks: lint, e2e\nNotify: false",
  );
});

it.each([
  [
    "text that is too short",
    { type: "string", minLength: 2 },
    said("v"),
    "Enter at least 2 characters.",
    said("v2"),
    "v2",
  ],
  [
    "text that is too long",
    { type: "string", maxLength: 2 },
    said("v10"),
    "Enter at most 2 characters.",
    said("v2"),
    "v2",
  ],
  [
    "text of another format",
    { type: "string", format: "date" },
    said("tomorrow"),
    "Enter a date like 2026-01-31.",
    said("2026-02-28"),
    "2026-02-28",
  ],
  ["text for a number", { type: "number" }, said("three"), "Enter a number.", said("3.5"), 3.5],
  ["a fraction for a whole number", { type: "integer" }, said("3.5"), "Enter a whole number.", said("3"), 3],
  [
    "a number that is too small",
    { type: "number", minimum: 1 },
    said("0"),
    "Enter a number of at least 1.",
    said("1"),
    1,
  ],
  [
    "a number that is too large",
    { type: "number", maximum: 9 },
    said("10"),
    "Enter a number of at most 9.",
    said("9"),
    9,
  ],
  [
    "too few choices",
    {
      type: "array",
      items: {
        anyOf: [
          { const: "a", title: "A" },
          { const: "b", title: "B" },
        ],
      },
      minItems: 2,
    },
    chosen("0"),
    "Choose at least 2.",
    chosen("0", "1"),
    ["a", "b"],
  ],
  [
    "too many choices",
    { type: "array", items: { type: "string", enum: ["a", "b"] }, maxItems: 1 },
    chosen("0", "1"),
    "Choose at most 1.",
    chosen("1"),
    ["b"],
  ],
])("asks again after %s", async (_name, property, wrong, problem, right, value) => {
  const schema = { type: "object", properties: { it: property }, required: ["it"] };
  const { host, reply } = await fillIn(schema, [wrong, right]);
  expect(host.requests.map(({ subject }) => subject)).toEqual([undefined, problem]);
  expect(reply).toEqual({ action: "accept", content: { it: value } });
});

it("offers a field's default, and omits an empty optional field", async () => {
  const properties = {
    host: { type: "string", default: "localhost" },
    port: { type: "integer", default: 80 },
  };
  const { host, reply } = await fillIn({ type: "object", properties }, [
    chosen("default"),
    chosen("skip"),
    chosen("send"),
  ]);
  expect(host.requests[1]?.options[0]).toMatchObject({ label: "80", description: "Default" });
  expect(reply).toEqual({ action: "accept", content: { host: "localhost" } });
});

it("starts again when the user changes the answers", async () => {
  const properties = { a: { type: "string" }, b: { type: "string" } };
  const { reply } = await fillIn({ type: "object", properties }, [
    said("1"),
    said("2"),
    chosen("edit"),
    said("3"),
    chosen("skip"),
    chosen("send"),
  ]);
  expect(reply).toEqual({ action: "accept", content: { a: "3" } });
});

it("asks for a confirmation if a form has no fields", async () => {
  const { host, reply } = await fillIn({ type: "object", properties: {} }, [chosen("accept")]);
  expect(host.requests.map(asked)).toEqual([{ title: "Deploy", options: ["Accept", "Decline", "Cancel"] }]);
  expect(reply).toEqual({ action: "accept", content: {} });
});

it.each([
  ["declined", chosen("decline"), "decline"],
  ["cancelled", chosen("cancel"), "cancel"],
  ["not answered in time", undefined, "cancel"],
])("reports to the agent that a form was %s, after the first question", async (_name, answer, action) => {
  const { host, reply } = await fillIn(FORM, [answer]);
  expect(host.requests).toHaveLength(1);
  expect(reply).toEqual({ action });
});

it("places the question after the preceding text, at its call", async () => {
  const { host } = await fillIn({ type: "object", properties: {} }, [chosen("accept")], {
    before: [
      says.update("tool_call", { toolCallId: "c", title: "deploy", kind: "other", rawInput: { to: "live" } }),
      says.text("I need to know more."),
    ],
    fields: { toolCallId: "c" },
  });
  const kinds = host.parts().map(({ type }) => type);
  expect(kinds.slice(kinds.indexOf("text"), kinds.lastIndexOf("text") + 1)).toEqual([
    "text",
    "request",
    "text",
  ]);
  expect(host.requests[0]).toMatchObject({ tool_call_id: "c" });
});

it.each([
  ["requires a field of an unknown type", { properties: { at: { type: "map" } }, required: ["at"] }, {}],
  ["is not a form", {}, { mode: "url", url: "https://example.org/login", elicitationId: "e" }],
])("cancels a request that %s, and keeps it in the transcript", async (_name, schema, fields) => {
  const { host, reply } = await fillIn(schema, [], { fields });
  expect(reply).toEqual({ action: "cancel" });
  expect(host.requests).toEqual([]);
  expect(host.parts()).toContainEqual(
    expect.objectContaining({
      type: "unknown",
      title: "A form that cannot be shown",
      raw: expect.objectContaining({ message: "Deploy" }),
    }),
  );
});

const isHeld = (_request: Request, signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));

it("closes a form that the agent withdraws", async () => {
  const { host, ask } = setUp(
    [
      ...opened,
      hears.prompt(2),
      says.form(7, FORM),
      says.notification("$/cancel_request", { requestId: 7 }),
      says.reply(7),
      says.result(2),
    ],
    { answer: isHeld },
  );
  expect(await ask("Deploy it")).toBe("completed");
  expect(host.parts()).toContainEqual(expect.objectContaining({ type: "request", outcome: "cancelled" }));
  expect(replyOf(host)).toEqual({ action: "cancel" });
});

it("cancels an open form when its turn is stopped", async () => {
  const stop = new AbortController();
  const { host, ask } = setUp(
    [
      ...opened,
      hears.prompt(2),
      says.form(7, FORM),
      hears.cancel,
      says.reply(7),
      says.result(2, { stopReason: "cancelled" }),
    ],
    {
      answer(request, signal) {
        const held = isHeld(request, signal);
        stop.abort();
        return held;
      },
    },
  );
  expect(await ask("Deploy it", stop.signal)).toBe("interrupted");
  expect(host.parts()).toContainEqual(expect.objectContaining({ type: "request", outcome: "cancelled" }));
  expect(replyOf(host)).toEqual({ action: "cancel" });
});

it("announces forms, and no files or terminals", async () => {
  const { host, ask } = setUp([...opened, { do: "capabilities" }]);
  await ask("What can you do?");
  expect(replyOf(host)).toEqual({
    fs: { readTextFile: false, writeTextFile: false },
    terminal: false,
    elicitation: { form: {} },
  });
});
