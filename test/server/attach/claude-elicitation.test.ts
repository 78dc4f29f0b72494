import { describe, expect, it } from "vitest";
import type { Answer } from "../../../src/model/request.ts";
import { plainText } from "../../../src/model/text/display-text.ts";
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

const TOPPINGS = { type: "array", items: { type: "string", enum: ["a", "b"] } };
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

  it.each([
    ["a number", { type: "number", minimum: 0.5 }, "A number of at least 0.5.", "2.5", 2.5],
    ["a whole number", { type: "integer", minimum: 1, maximum: 9 }, "A whole number from 1 to 9.", "3", 3],
    ["a whole number up to one", { type: "integer", maximum: 9 }, "A whole number of at most 9.", "9", 9],
    ["an address", { type: "string", format: "uri" }, "An address like https://example.org.", "ftp://a/b"],
    ["an email address", { type: "string", format: "email" }, "An email address.", "ada@example.org"],
    ["a date", { type: "string", format: "date" }, "A date like 2026-01-31.", "2028-02-29"],
    [
      "a time",
      { type: "string", format: "date-time" },
      "A date and time like 2026-01-31T12:00:00Z.",
      "2026-01-31T12:00:00.5+01:00",
    ],
    ["a length", { type: "string", minLength: 2, maxLength: 4 }, "2 to 4 characters.", "abc"],
    ["at least a length", { type: "string", minLength: 2 }, "At least 2 characters.", "abc"],
  ])(
    "says what a field for %s takes, and is accepted with it",
    (_name, property, rule, text, value: unknown = text) => {
      expect(readElicitation(body({ field: property }))?.requests[0]).toMatchObject({
        subject: rule,
        free_text: true,
      });
      expect(replyFor({ field: property }, { option_ids: [], text })).toEqual(
        decision({ action: "accept", content: { field: value } }),
      );
    },
  );

  it.each([
    ["few characters", { type: "string", minLength: 2 }, { text: "a" }, "Enter at least 2 characters."],
    ["many characters", { type: "string", maxLength: 2 }, { text: "abc" }, "Enter at most 2 characters."],
    ["a small number", { type: "integer", minimum: 1 }, { text: "0" }, "Enter a number of at least 1."],
    ["a large number", { type: "number", maximum: 9 }, { text: "10" }, "Enter a number of at most 9."],
    ["a fraction", { type: "integer" }, { text: "1.5" }, "Enter a whole number."],
    ["no number", { type: "number" }, { text: " " }, "Enter a number."],
    ["no email address", { type: "string", format: "email" }, { text: "ada" }, "Enter an email address."],
    [
      "no address",
      { type: "string", format: "uri" },
      { text: "example.org" },
      "Enter an address like https://example.org.",
    ],
    [
      "no day of the month",
      { type: "string", format: "date" },
      { text: "2026-02-31" },
      "Enter a date like 2026-01-31.",
    ],
    [
      "a date without a time",
      { type: "string", format: "date-time" },
      { text: "2026-01-31" },
      "Enter a date and time like 2026-01-31T12:00:00Z.",
    ],
    ["few choices", { ...TOPPINGS, minItems: 2 }, { option_ids: ["0"] }, "Choose at least 2."],
    ["many choices", { ...TOPPINGS, maxItems: 1 }, { option_ids: ["0", "1"] }, "Choose at most 1."],
  ])("refuses %s, but not to leave the field empty or to decline", (_name, property, answer, problem) => {
    const asked = readElicitation(body({ field: property }));
    const id = asked?.requests[0]?.request_id ?? "";
    const found = asked?.problemOf?.(id, { option_ids: [], ...answer });
    expect(found && plainText(found)).toBe(problem);
    expect(asked?.problemOf?.(id, { option_ids: ["empty"] })).toBeUndefined();
    expect(asked?.problemOf?.(id, { option_ids: ["decline"] })).toBeUndefined();
  });

  it("offers the default of a field, and describes its choices", () => {
    const size = { type: "string", oneOf: [{ const: "s", title: "Small", description: "30 cm" }] };
    const asked = readElicitation(body({ count: { type: "integer", default: 2 }, size }));
    expect(asked?.requests[0]?.options[0]).toMatchObject({ label: "2", description: "Default" });
    expect(asked?.requests[1]?.options[0]).toMatchObject({ label: "Small", description: "30 cm" });
    expect(replyFor({ count: { type: "integer", default: 2 } }, { option_ids: ["default"] })).toEqual(
      decision({ action: "accept", content: { count: 2 } }),
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
    ["with a pattern", body({ code: { type: "string", pattern: "^(a+)+$" } })],
    ["with an unknown format", body({ host: { type: "string", format: "hostname" } })],
    ["with multiples of a number", body({ count: { type: "integer", multipleOf: 5 } })],
    ["with choices that are no texts", body({ size: { type: "string", enum: ["s", 1] } })],
    ["with a field of an unknown type", body({ at: { type: "map" } })],
    ["that is a URL", body({}, { mode: "url", url: "https://shop.example" })],
    ["without a schema", body({}, { requested_schema: undefined })],
    ["of an unknown server", body({}, { mcp_server_name: undefined })],
    ["of another event", body({}, { hook_event_name: "ElicitationResult" })],
  ])("%s is left to the terminal", (_name, value) => {
    expect(readElicitation(value)).toBeUndefined();
  });
});
