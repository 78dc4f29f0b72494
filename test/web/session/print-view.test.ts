import { expect, test } from "vitest";
import { accumulate } from "../../../src/model/transcript/accumulate.ts";
import { emptyTranscript } from "../../../src/model/transcript/transcript-state.ts";
import { createLayout } from "../../../src/web/screens/session/layout.ts";
import { createPrintView } from "../../../src/web/screens/session/print-view.ts";

const SESSION = "7c1d8a52-2222-4333-8444-555566667777";
const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** Turns with one prompt and the given number of texts each. */
function rowsOf(turns: number, texts: number) {
  const common = { session_id: SESSION, at: 0 };
  let transcript = emptyTranscript(SESSION);
  for (let index = 0, made = 0; index < turns; index++) {
    transcript = accumulate(transcript, {
      ...common,
      type: "user.message",
      message_id: id(++made),
      parts: [{ type: "text", text: "Do it." }],
    });
    for (let text = 0; text < texts; text++) {
      const part_id = id(++made);
      transcript = accumulate(transcript, { ...common, type: "message.part_start", part_id, kind: "text" });
      transcript = accumulate(transcript, { ...common, type: "message.part_end", part_id, text: "Done." });
    }
  }
  const layout = createLayout();
  layout.reset(transcript, { showSteps: false });
  return layout.visible(0, layout.height);
}
const indexes = ({ turns }: ReturnType<typeof createPrintView>) =>
  turns.flatMap(({ rows }) => rows.map(({ index }) => index));

test("prints everything that is loaded, without a note about omissions", () => {
  const paper = createPrintView(rowsOf(2, 3), () => true, 0);
  expect(indexes(paper)).toEqual([1, 2, 3, 5, 6, 7]);
  expect(paper.turns.map(({ turn }) => turn.index)).toEqual([0, 1]);
  expect(paper).not.toHaveProperty("omissionText");
  expect(paper).not.toHaveProperty("unloaded");
});

test("names what is not loaded, and where it is", () => {
  const paper = createPrintView(rowsOf(2, 3), (index) => index > 4, 0);
  expect(indexes(paper)).toEqual([5, 6, 7]);
  expect(paper.turns.map(({ turn }) => turn.index)).toEqual([1]);
  expect(paper.omissionText).toBe(
    "3 of 6 parts are not printed: 3 not loaded yet (print again to include more).",
  );
  expect(paper.unloaded).toEqual({ from: 1, to: 4 });
});

test("prints from the row in view if there are too many rows, otherwise the last ones", () => {
  const rows = rowsOf(3, 1_000);
  const from = (inView: number) => indexes(createPrintView(rows, () => true, inView));
  expect(from(0)).toHaveLength(2_000);
  expect(from(0)[0]).toBe(1);
  expect(from(50)[0]).toBe(50);
  expect(from(3_002).at(-1)).toBe(3_002);
  expect(from(3_002)).toHaveLength(2_000);
  expect(createPrintView(rows, () => true, 0).omissionText).toBe(
    "1,000 of 3,000 parts are not printed: 1,000 over the limit of 2,000 per print.",
  );
});
