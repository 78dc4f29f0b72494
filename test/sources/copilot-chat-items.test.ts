import { expect, it } from "vitest";
import {
  markdown,
  partsOfType,
  readDocument,
  request,
  session,
  thought,
  uri,
} from "./copilot-chat-support.ts";

const TIDE = "/home/mara/tide.ts";

it("shows the other kinds of items as markers, and unknown ones raw", () => {
  const shown = readDocument(
    session([
      request(
        "1",
        "Ask me",
        [
          { kind: "progressTaskSerialized", content: markdown("Optimizing tool selection"), progress: [] },
          { kind: "warning", content: markdown("Slow") },
          {
            kind: "confirmation",
            title: "Continue?",
            message: markdown("Many steps"),
            buttons: ["Yes", "No"],
          },
          { kind: "elicitationSerialized", title: "Input", message: "Name?", state: "accepted" },
          {
            kind: "questionCarousel",
            questions: [{ id: "q", title: "Port?", options: [{ id: "b", label: "Bergen", value: "1" }] }],
            data: { q: { selectedValue: "1" } },
          },
          { kind: "hook", hookType: "Stop", stopReason: "Not yet" },
          { label: "src", uri: uri("/home/mara/src"), children: [{ label: "tide.ts", uri: uri(TIDE) }] },
          { kind: "future", never: "seen" },
        ],
        {
          contentReferences: [
            {
              kind: "reference",
              reference: { uri: uri(TIDE), range: { startLineNumber: 2, endLineNumber: 4 } },
            },
          ],
          codeCitations: [{ kind: "codeCitation", license: "MIT", value: uri("/x"), snippet: "s" }],
          result: { metadata: { summary: { toolCallRoundId: "r", text: "So far" } } },
        },
      ),
    ]),
  );
  expect(shown.order).toBe(
    "U [note] [note] [note] [note] [note] [hook] [note] ?? [context] [note] [compaction]",
  );
  const texts = partsOfType(shown, "marker").map(({ title, text }) => `${title}|${text ?? ""}`);
  expect(texts).toEqual([
    "Optimizing tool selection|",
    "Warning: Slow|Slow",
    "Continue?|Many steps\n\n[Yes] [No]",
    "Input|Name?\n\naccepted",
    "Asked the user|Port?\n- Bergen\n→ Bergen",
    "Hook Stop|Not yet",
    "src|tide.ts",
    `Used references|${TIDE}:2-4`,
    "Code similar to public code|MIT: /x",
    "Conversation compacted|So far",
  ]);
  expect(partsOfType(shown, "unknown").map(({ raw }) => raw)).toEqual([{ kind: "future", never: "seen" }]);
});

it("shows the model that VS Code chose, also as an earlier version recorded it", () => {
  const auto = { modelId: "copilot/auto" };
  const shown = readDocument(
    session([
      request(
        "1",
        "Fix it",
        [
          {
            kind: "autoModeResolution",
            resolvedModel: "tide-mini",
            resolvedModelName: "Tide Mini",
            confidence: 0.4,
          },
          markdown("Fixed."),
        ],
        auto,
      ),
      request(
        "2",
        "Test it",
        [{ kind: "autoModeResolution", resolved: { id: "tide-2", name: "Tide 2" } }, markdown("Tested.")],
        auto,
      ),
    ]),
  );
  expect(partsOfType(shown, "marker").map(({ title }) => title)).toEqual([
    "Models chosen: Tide Mini",
    "Models chosen: Tide 2",
    "Model changed: tide-mini → tide-2",
  ]);
  expect(partsOfType(shown, "step_start").map(({ model }) => model)).toEqual(["tide-mini", "tide-2"]);
});

it("shows how long the model thought, and a question of an earlier version", () => {
  const shown = readDocument(
    session([
      request("1", "Fix it", [
        { ...thought(["Look ", "first."]), reasoningDurationMs: 1_500 },
        { kind: "elicitation", title: "Input", message: "Name?", state: "pending" },
        markdown("Fixed."),
      ]),
    ]),
  );
  expect(shown.order).toBe("U T [note] x");
  const [{ at = 0, ended_at = 0 } = {}] = partsOfType(shown, "thinking");
  expect(ended_at - at).toBe(1_500);
  expect(partsOfType(shown, "marker").map(({ title, text }) => [title, text])).toEqual([
    ["Input", "Name?\n\npending"],
  ]);
});
