import { describe, expect, it } from "vitest";
import { offeredToolName } from "../../src/providers/tool-names.ts";

describe("a tool's name in a call", () => {
  const offered = ["read", "web_fetch", "tool_box", "git/log", "2fa"];
  it.each([
    ["read", "read"],
    ["functions.read", "read"],
    ["default_api.web_fetch", "web_fetch"],
    ["functions:read", "read"],
    ["tool_read_x1", "read"],
    ["tool_box", "tool_box"],
    ["git_log", "git/log"],
    ["_2fa", "2fa"],
  ])("%s refers to the tool %s", (called, meant) => {
    expect(offeredToolName(called, offered)).toBe(meant);
  });

  it.each(["", "reads", "functions.", "Read", "functions.write"])(
    "%j refers to no tool and stays unchanged",
    (called) => {
      expect(offeredToolName(called, offered)).toBe(called);
    },
  );

  it("is unchanged if two tools would be sent under it", () => {
    expect(offeredToolName("a_b", ["a/b", "a.b"])).toBe("a_b");
  });
});
