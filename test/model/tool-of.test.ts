import { describe, expect, it } from "vitest";
import { toolLabel } from "../../src/model/parts/tool-label.ts";
import { toolOf } from "../../src/model/parts/tool-of.ts";
import type { TranscriptPart } from "../../src/model/transcript/transcript.ts";
import { uuidOf } from "../uuid-of.ts";
import { createEntry, createToolCall } from "./factories.ts";

const session_id = uuidOf("session");
const message_id = uuidOf("message");

/** The labels of a call of Codex's `exec` and of its result, as a search shows them. */
function labels(script: string): (string | undefined)[] {
  const call = createToolCall(
    { session_id, message_id, index: 0 },
    { tool_call_id: "c1", tool_name: "exec", arguments_json: script },
  );
  const result = createEntry(
    "tool_result",
    { session_id, message_id, index: 1 },
    {
      tool_call_id: "c1",
      tool_name: "exec",
      call_index: 0,
      is_error: false,
      status: "success",
      output_text: "",
      parts: [],
    },
  );
  const parts: TranscriptPart[] = [call, result];
  return parts.map((part) => toolLabel(toolOf(part, (index) => parts[index]) ?? ""));
}

describe("the tool of a script of Codex and of its result", () => {
  it("is the one whose card shows it, if the script only applies patches or updates the plan", () => {
    const patch = 'await tools.apply_patch("*** Begin Patch\\n*** Update File: a.ts\\n*** End Patch");';
    expect(labels(patch)).toEqual(["Edit", "Edit"]);
    expect(labels('await tools.update_plan({plan: [{step: "Measure", status: "pending"}]});')).toEqual([
      "Plan",
      "Plan",
    ]);
  });

  it("is the script's own otherwise", () => {
    expect(labels('await tools.exec_command({cmd: "ls"});')).toEqual(["Shell", "Shell"]);
  });
});
