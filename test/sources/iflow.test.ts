import { expect, it } from "vitest";
import { iflow } from "../../src/sources/iflow/format.ts";
import { accountOf } from "./account.ts";
import { orderOf } from "./record-laws.ts";

const SESSION = "session-9d8c7b6a-5f4e-4d3c-8b2a-190817263544";
const line = (type: string, message: object, fields: object = {}): object => ({
  uuid: "u",
  parentUuid: null,
  sessionId: SESSION,
  timestamp: "2026-02-27T09:11:31.532Z",
  type,
  message,
  ...fields,
});

it("shows the output of a result that iFlow wrote without its wrapper", () => {
  const functionResponse = { id: "c1", name: "read_file", response: { output: "1: hello" } };
  const { parts } = accountOf(iflow, `/h/.iflow/projects/-home-mara/${SESSION}.jsonl`, [
    line("user", { role: "user", content: "Read it" }),
    line("assistant", {
      id: "m1",
      role: "assistant",
      model: "glm-5",
      content: [{ type: "tool_use", id: "c1", name: "read_file", input: { absolute_path: "/a" } }],
    }),
    line("user", {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "c1", content: { functionResponse } }],
    }),
  ]);
  expect(orderOf(parts)).toBe("U c:read_file");
  expect(parts.find((part) => part.type === "tool_result")).toMatchObject({ output_text: "1: hello" });
});
