import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createSessions } from "../../src/server/import/catalog.ts";
import type { Sessions } from "../../src/server/sessions/sessions.ts";
import { continueDev } from "../../src/sources/continue/format.ts";
import { eventually } from "../eventually.ts";
import { answer, continueFolder, prompt, SESSION } from "../sources/continue-support.ts";

let home: string;
let sessions: Sessions | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "continue-"));
});
afterEach(async () => {
  await sessions?.close();
  rmSync(home, { recursive: true, force: true });
});

it("lists a session, and shows in the open view what each save changes", async () => {
  const { save } = continueFolder(home);
  const call = { id: "c1", name: "Bash", input: { command: "make" } };
  save([prompt("Fix it"), answer("I look.", [{ ...call, status: "calling" }])]);
  const all = createSessions({
    formats: [continueDev],
    roots: [{ format: continueDev, path: home }],
    timing: { hot: 20, list: 20, last_line: 20, publish: 5, persist: 10, tick: 10 },
  });
  sessions = all;
  await eventually(() =>
    expect(all.list().map(({ id, title }) => [id, title])).toEqual([[SESSION, "Tide table"]]),
  );
  const open = await all.open(SESSION);
  const parts = () =>
    [...(open?.transcript.parts ?? [])].flatMap((part) => {
      if (part?.type === "text") return [`${part.text}${part.retracted === undefined ? "" : " (removed)"}`];
      return part?.type === "tool_result" || part?.type === "marker" ? [part.type] : [];
    });
  await eventually(() => expect(parts()).toEqual(["I look."]));
  const first = [prompt("Fix it"), answer("I look.", [{ ...call, status: "done", output: ["made"] }])];
  save([...first, answer("Fixed.")]);
  await eventually(() => expect(parts()).toEqual(["I look.", "tool_result", "Fixed."]));
  save([...first, prompt("No")]);
  await eventually(() => expect(parts()).toEqual(["I look.", "tool_result", "Fixed. (removed)"]));
  const summary = { message: { role: "assistant", content: "It was fixed." }, contextItems: [] };
  save([{ ...summary, conversationSummary: "It was fixed." }]);
  await eventually(() => expect(parts()).toEqual(["I look.", "tool_result", "Fixed. (removed)", "marker"]));
});
