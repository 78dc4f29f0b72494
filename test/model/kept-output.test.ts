import { expect, it } from "vitest";
import { keptOutputOf, ownOutput } from "../../src/model/parts/kept-output.ts";
import type { UiExtra } from "../../src/model/parts/ui-extra.ts";
import { result, text } from "../build.ts";

const shell = (given: Partial<Extract<UiExtra, { type: "shell" }>>) =>
  result("call_1", "see the file: a.ts (that was all)", { ui_extra: { type: "shell", ...given } });

it("a complete output is stored where the agent says, with its size", () => {
  expect(keptOutputOf(shell({ persisted_path: "/tmp/all" }))).toEqual({ path: "/tmp/all" });
  expect(keptOutputOf(shell({ persisted_path: "/tmp/all", persisted_bytes: 0 }))).toEqual({
    path: "/tmp/all",
    byte_size: 0,
  });
});

it("any tool may have one", () => {
  const kept = { persisted_path: "/tmp/all", output_start: 14, output_stop: 18 };
  for (const extra of [
    { type: "output" },
    { type: "search", match_count: 1, files: [] },
    { type: "mcp", server: "logs", tool: "query" },
  ] satisfies UiExtra[]) {
    const part = result("call_1", "see the file: a.ts (that was all)", { ui_extra: { ...extra, ...kept } });
    expect(keptOutputOf(part)).toEqual({ path: "/tmp/all" });
    expect(ownOutput(part)).toBe("a.ts");
  }
});

it("other results have none", () => {
  expect(keptOutputOf(shell({ persisted_bytes: 5 }))).toBeUndefined();
  expect(keptOutputOf(result("call_1", "a"))).toBeUndefined();
  expect(
    keptOutputOf(result("call_1", "a", { ui_extra: { type: "search", match_count: 0, files: [] } })),
  ).toBeUndefined();
  expect(keptOutputOf(result("call_1", "a", { ui_extra: { type: "output" } }))).toBeUndefined();
  expect(keptOutputOf(text("a"))).toBeUndefined();
});

it("text that an agent wrote around an output does not belong to the tool", () => {
  expect(ownOutput(shell({ output_start: 14, output_stop: 18 }))).toBe("a.ts");
  expect(ownOutput(shell({}))).toBe("see the file: a.ts (that was all)");
  expect(ownOutput(result("call_1", "a"))).toBe("a");
});
