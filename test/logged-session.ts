import { createHash } from "node:crypto";

/** The log's own notation: sorted keys, no spaces. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([one], [other]) => (one < other ? -1 : 1))
            .map(([key, member]) => [key, sorted(member)]),
        )
      : value;
const digestOf = (value: unknown) =>
  createHash("sha256")
    .update(JSON.stringify(sorted(value)))
    .digest("hex");

const sessionId = "0b8f6f0e-5c6b-4f0e-9a52-4f3a0c6d2e11";
const common = { sessionId, version: "2.1.332", cwd: "/p", timestamp: "2026-11-20T10:00:00.000Z" };
const user = (uuid: string, parentUuid: string | null, content: unknown, more = {}) => ({
  ...common,
  type: "user",
  uuid,
  parentUuid,
  message: { role: "user", content },
  ...more,
});
const assistant = (uuid: string, parentUuid: string, id: string, content: unknown[], more = {}) => ({
  ...common,
  type: "assistant",
  uuid,
  parentUuid,
  message: { id, role: "assistant", model: "m", content, usage: { input_tokens: 1, output_tokens: 1 } },
  ...more,
});
const uuidOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

export const shape = { system: [{ type: "text", text: "You are careful." }], tools: [{ name: "Bash" }] };
const asked = { role: "user", content: [{ type: "text", text: "List the files" }] };
const called = {
  role: "assistant",
  content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }],
};
const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a.txt" }] };
const reminder = { role: "system", content: [{ type: "text", text: "Be brief." }] };
export const params = { model: "m", max_tokens: 100 };
const request = (id: string, more: object) => ({
  type: "api-request",
  sessionId,
  id,
  timestamp: common.timestamp,
  shapeHash: digestOf(shape),
  params,
  ...more,
});

/** A session of two steps; the first needed two attempts. The second request repeats a message and caches its last block. */
export const loggedSession = [
  user(uuidOf(1), null, "List the files"),
  { type: "api-request-shape", sessionId, shapeHash: digestOf(shape), shape },
  request("r0", {
    keep: 0,
    tail: [digestOf(asked)],
    requestDigest: digestOf({ ...shape, ...params, messages: [asked] }),
  }),
  request("r1", {
    base: "r0",
    keep: 1,
    tail: [],
    requestDigest: digestOf({ ...shape, ...params, messages: [asked] }),
  }),
  assistant(uuidOf(2), uuidOf(1), "msg_1", called.content, { requestRef: "r1" }),
  user(uuidOf(3), uuidOf(2), result.content),
  { type: "api-request-blob", sessionId, hash: digestOf(reminder), message: reminder },
  request("r2", {
    base: "r1",
    keep: 1,
    tail: [digestOf(reminder), digestOf(called), digestOf(result), digestOf(reminder)],
    cacheControl: [{ path: ["messages", 4, "content", 0], value: { type: "ephemeral" } }],
    requestDigest: digestOf({
      ...shape,
      ...params,
      messages: [
        asked,
        reminder,
        called,
        result,
        { ...reminder, content: [{ ...reminder.content[0], cache_control: { type: "ephemeral" } }] },
      ],
    }),
  }),
  assistant(uuidOf(4), uuidOf(3), "msg_2", [{ type: "text", text: "One file." }], { requestRef: "r2" }),
];
