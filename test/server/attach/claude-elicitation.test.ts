import { describe, expect, it } from "vitest";
import type { Answer } from "../../../src/model/request.ts";
import { readElicitation } from "../../../src/server/attach/claude-code/elicitation.ts";

const SESSION = "7d1f2c44-0b0e-4f0a-9c39-1d2d6f5f3a72";

/** The body of an Elicitation hook of Claude Code 2.1.332. */
const body = (properties: object, fields: object = {}): object => ({
  session_id: SESSION,
  cwd: "/w/tide",
  hook_event_name: "Elicitation",
  mcp_server_name: "shop",
  message: "Your order",
  mode: "form",
  requested_schema: { type: "object", properties },
  ...fields,
});

/** The hook's output for answers in the order of the questions. */
function replyFor(properties: object, ...answers: Answer[]): unknown {
  const asked = readElicitation(body(properties));
  if (asked === undefined) throw new Error("The form was not read.");
  expect(asked.requests).toHaveLength(answers.length);
  return asked.replyTo(
    new Map(
      asked.requests.flatMap(({ request_id }, at) => {
        const answer = answers[at];
        return answer === undefined ? [] : [[request_id, answer] as const];
      }),
    ),
  );
}
const decision = (fields: object) => ({ hookSpecificOutput: { hookEventName: "Elicitation", ...fields } });

const COLOUR = { type: "string", title: "Colour", enum: ["r", "b"], enumNames: ["Red", "Blue"] };

describe("a form of an MCP server in Claude Code", () => {
  it("names the server, and may only be held while a browser shows the session", () => {
    const asked = readElicitation(body({ colour: COLOUR }));
    expect(asked).toMatchObject({ session_id: SESSION, agent: "claude-code", hides_dialog: true });
    expect(asked?.requests[0]).toMatchObject({ kind: "question", title: "shop: Your order – Colour" });
    expect(asked?.requests[0]?.options.map(({ label }) => label)).toEqual([
      "Red",
      "Blue",
      "Leave empty",
      "Decline",
    ]);
  });

  it("has no empty field where one is required", () => {
    const schema = { type: "object", properties: { colour: COLOUR }, required: ["colour"] };
    const asked = readElicitation(body({}, { requested_schema: schema }));
    expect(asked?.requests[0]?.options.map(({ label }) => label)).toEqual(["Red", "Blue", "Decline"]);
  });

  it("is accepted with the values of its fields", () => {
    const properties = { colour: COLOUR, gift: { type: "boolean" }, name: { type: "string" } };
    const answers: Answer[] = [{ option_ids: ["1"] }, { option_ids: ["1"] }, { option_ids: [], text: "Ada" }];
    expect(replyFor(properties, ...answers)).toEqual(
      decision({ action: "accept", content: { colour: "b", gift: false, name: "Ada" } }),
    );
  });

  it("is accepted without the fields that were left empty", () => {
    const properties = { colour: COLOUR, gift: { type: "boolean" }, name: { type: "string" } };
    const empty = { option_ids: ["empty"] };
    expect(replyFor(properties, empty, { option_ids: ["0"] }, empty)).toEqual(
      decision({ action: "accept", content: { gift: true } }),
    );
  });

  it("keeps what was chosen or typed beside the option to leave a field empty", () => {
    const toppings = { type: "array", items: { type: "string", enum: ["a", "b"] } };
    const answers: Answer[] = [{ option_ids: ["1", "empty"] }, { option_ids: ["empty"], text: "Ada" }];
    expect(replyFor({ toppings, name: { type: "string" } }, ...answers)).toEqual(
      decision({ action: "accept", content: { toppings: ["b"], name: "Ada" } }),
    );
  });

  it.each([
    ["names", { enum: ["a", "b", "c"] }],
    ["titles", { anyOf: ["a", "b", "c"].map((value) => ({ const: value, title: value.toUpperCase() })) }],
  ])("is accepted with several choices, which have %s", (_name, items) => {
    const toppings = { type: "array", items: { type: "string", ...items } };
    expect(replyFor({ toppings }, { option_ids: ["0", "2"] })).toEqual(
      decision({ action: "accept", content: { toppings: ["a", "c"] } }),
    );
  });

  it("without fields is a confirmation", () => {
    expect(replyFor({}, { option_ids: ["accept"] })).toEqual(decision({ action: "accept", content: {} }));
    expect(replyFor({}, { option_ids: ["decline"] })).toEqual(decision({ action: "decline" }));
  });

  it("is declined", () => {
    expect(replyFor({ colour: COLOUR }, { option_ids: ["decline"] })).toEqual(
      decision({ action: "decline" }),
    );
  });

  it("is declined at any of its questions, without the others", () => {
    const asked = readElicitation(body({ colour: COLOUR, name: { type: "string" } }));
    const [, second] = asked?.requests ?? [];
    expect(second?.options.map(({ label }) => label)).toEqual(["Leave empty", "Decline the whole form"]);
    const answers = new Map([[second?.request_id ?? "", { option_ids: ["decline"] }]]);
    expect(asked?.isComplete?.(answers)).toBe(true);
    expect(asked?.replyTo(answers)).toEqual(decision({ action: "decline" }));
  });

  it.each([
    ["with a number", body({ count: { type: "integer" } })],
    ["with a number of choices", body({ toppings: { type: "array", items: COLOUR, minItems: 1 } })],
    ["with a format", body({ mail: { type: "string", format: "email" } })],
    ["that is a URL", body({}, { mode: "url", url: "https://shop.example" })],
    ["without a schema", body({}, { requested_schema: undefined })],
    ["of an unknown server", body({}, { mcp_server_name: undefined })],
    ["of another event", body({}, { hook_event_name: "ElicitationResult" })],
  ])("%s is left to the terminal", (_name, value) => {
    expect(readElicitation(value)).toBeUndefined();
  });
});
