import { expect, it } from "vitest";
import { printedEnd, printedOutput } from "../../src/model/parts/script-output.ts";

const shell = (output: string, facts: object = { exit_code: 1 }): string =>
  JSON.stringify({ chunk_id: "a1b2c3", wall_time_seconds: 0.5, ...facts, original_token_count: 4, output });

it("is what the commands printed, whatever they printed", () => {
  const texts = ['error: no\n\ttabs "quotes" \\ back', "\u001b[31mred\u001b[0m", '{"a":[1]}', ""];
  for (const text of texts) expect(printedOutput(shell(text))).toBe(text);
  expect(printedOutput(shell("running", { session_id: 7 }))).toBe("running");
});

it("keeps what is around the results", () => {
  const output = `Script completed\n[${shell("one")},${shell("two")}]\nbye`;
  expect(printedOutput(output)).toBe("Script completed\n[one,two]\nbye");
});

it("reads a result whose end was cut off", () => {
  const whole = shell('first line\nsecond "line"\nthird');
  expect(printedOutput(whole.slice(0, -9))).toBe('first line\nsecond "line"');
  expect(printedEnd(whole.slice(-12))).toBe('e"\nthird');
});

it("is absent for other outputs", () => {
  expect(printedOutput("plain text")).toBeUndefined();
  expect(printedOutput('{"chunk_id":"a","other":1}')).toBeUndefined();
});
