import { expect, it } from "vitest";
import { asNumber, asString, asText } from "../../src/model/narrow.ts";
import { linePlace } from "../../src/model/transcript/source-text.ts";
import { uuidFrom } from "../../src/model/uuid.ts";
import type { RecordReader } from "../../src/sources/contract.ts";
import { recordLinesFormat } from "../../src/sources/lines/record-lines.ts";
import { accountOf } from "./account.ts";

/** The smallest agent: `{"session"}` first, then `{"prompt"}` and `{"answer"}` lines. */
interface State {
  session_id?: string;
  answers: number;
}
const exampleReader: RecordReader<State> = {
  initialState: () => ({ answers: 0 }),
  sessionId: (state) => state.session_id,
  read(state, { key, place, value }) {
    const name = asText(value.session);
    state.session_id ??= uuidFrom("example", name ?? "unnamed");
    const { session_id } = state;
    const common = { session_id, at: asNumber(value.at) ?? 0, source: place };
    if (name !== undefined) return { disposition: { kind: "folded", into: "the session" }, frames: [] };
    const message_id = uuidFrom(session_id, key);
    const prompt = asString(value.prompt);
    const answer = asString(value.answer);
    if (prompt !== undefined) {
      const parts = [{ type: "text" as const, text: prompt }];
      return {
        disposition: { kind: "shown" },
        frames: [{ ...common, type: "user.message", message_id, parts }],
      };
    }
    const part_id = uuidFrom(message_id, "part");
    if (answer === undefined) {
      return {
        disposition: { kind: "unknown" },
        frames: [{ ...common, type: "unknown", part_id, raw: value }],
      };
    }
    state.answers += 1;
    return {
      disposition: { kind: "shown" },
      frames: [
        { ...common, type: "message.start", message_id },
        { ...common, type: "message.part_start", part_id, kind: "text" },
        { ...common, type: "message.part_end", part_id, text: answer },
        { ...common, type: "message.end", message_id, stop_reason: "stop" },
      ],
    };
  },
  end: ({ session_id, answers }) =>
    session_id === undefined || answers === 0
      ? []
      : [{ type: "turn.end", session_id, at: 0, status: "completed" }],
  linkFacts: ({ session_id }) => ({
    sessions: session_id === undefined ? [] : [{ session_id, group: session_id, calls: [] }],
  }),
};
const example = recordLinesFormat({
  id: "example",
  name: "Example",
  root: { variable: "EXAMPLE_HOME", home: ".example", folders: ["sessions"] },
  classify: (path) => (path.endsWith(".jsonl") ? { kind: "session" } : undefined),
  detect: () => true,
  reader: exampleReader,
});

it("reads each line as a record with its place, and reports the end", () => {
  const { outcomes, parts, transcript } = accountOf(example, "s.jsonl", [
    { session: "one" },
    { prompt: "Hello", at: 5 },
    { answer: "Hi", at: 6 },
    { other: true },
  ]);
  expect(outcomes).toEqual([
    "folded into the session",
    'shown · prompt [{"type":"text","text":"Hello"}]',
    'shown · text "Hi"',
    'unknown · unknown {"other":true}',
    "folded into the turn",
  ]);
  expect(linePlace(parts[0]?.source)).toMatchObject({ line: 2, byte: 18 });
  expect([...transcript.turns].map((turn) => turn?.status)).toEqual(["completed"]);
});

it("shows damaged lines in their place, even before the session's id is known", () => {
  const { outcomes, parts } = accountOf(example, "s.jsonl", [
    "{torn",
    "",
    { session: "one" },
    '{"prompt": "a", ',
    { prompt: "b" },
  ]);
  expect(outcomes).toEqual([
    expect.stringMatching(/^unreadable · unknown Unreadable line "\{torn" with an error$/),
    "hidden: blank line",
    "folded into the session",
    expect.stringMatching(/^unreadable · unknown Unreadable line .* with an error$/),
    'shown · prompt [{"type":"text","text":"b"}]',
  ]);
  expect(new Set(parts.map(({ session_id }) => session_id)).size).toBe(1);
});

it("shows a file without records under an id derived from its path", () => {
  const { outcomes, parts } = accountOf(example, "s.jsonl", ["nothing"]);
  expect(outcomes).toEqual([expect.stringMatching(/^unreadable · unknown/)]);
  expect(parts[0]?.session_id).toBe(uuidFrom("example", "s.jsonl"));
});
