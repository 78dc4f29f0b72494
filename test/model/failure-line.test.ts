import { describe, expect, it } from "vitest";
import { failureIndex, failureLine } from "../../src/model/parts/failure-line.ts";

describe("the line that says why a call failed", () => {
  it.each([
    ["the last that names a failure", "error: one\nok\nerror: two\nnote: see above", "error: two"],
    ["the first with words, if none names a failure", "\n----\nnothing to do\nbye", "nothing to do"],
    [
      "not what a build tool says while it waits",
      "error: could not compile `tide`\nwarning: build failed, waiting for other jobs to finish...",
      "error: could not compile `tide`",
    ],
    ["not the agent's header", "Exit code 1\nWall time 2 seconds\nfatal: no branch", "fatal: no branch"],
    ["not a count of no errors", "panicked at src/a.rs\n0 errors", "panicked at src/a.rs"],
  ])("is %s", (_, output, expected) => {
    expect(failureLine(output)).toBe(expected);
  });

  it("is absent in the end of an output that names none", () => {
    expect(failureLine("nothing to do\nbye", true)).toBeUndefined();
  });

  it("has a position among lines", () => {
    expect(failureIndex(["error: one", "\u001b[31merror\u001b[0m: two", "bye"])).toBe(1);
    expect(failureIndex(["fine"])).toBe(-1);
  });
});
