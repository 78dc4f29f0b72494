import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { recordGrowth } from "../../../src/model/transcript/growth.ts";
import type { TranscriptPart, Turn } from "../../../src/model/transcript/transcript.ts";
import type { TranscriptHost, TurnWindow } from "../../../src/web/transcript/host.ts";
import { TurnTranscript } from "../../../src/web/transcript/TurnTranscript.tsx";
import {
  aborted,
  call,
  failed,
  hostOf,
  idOf,
  legacy,
  marker,
  paired,
  prompt,
  result,
  running,
  START,
  stepEnd,
  text,
  thinking,
  turnOf,
  unknown,
} from "../../build.ts";

function show(given: readonly TranscriptPart[], host: TranscriptHost = hostOf(), targetPartId?: string) {
  const parts = paired(given);
  return render(
    <TurnTranscript
      turn={turnOf(parts)}
      partAt={(index) => parts[index]}
      host={host}
      {...(targetPartId === undefined ? {} : { targetPartId })}
    />,
  );
}

/** The text of each row, in page order. */
const rows = () => screen.getAllByRole("article").map((row) => row.textContent ?? "");
const kinds = () =>
  screen.getAllByRole("article").map((row) => within(row).getByRole("heading", { level: 3 }).textContent);

describe("a turn", () => {
  it("opens folded content of the part with a search match, and only of that part", () => {
    const long = prompt(`${"Many words. ".repeat(80)}A needle.`);
    const thought = thinking("A needle in a first thought.\n\nMore of it.");
    const other = thinking("A needle in a second thought.\n\nMore of the other.");
    const withdrawn = { ...text("A needle that was withdrawn."), retracted: "filtered" };
    const parts = [long, thought, other, withdrawn];
    const look = (target: TranscriptPart, query: string) => (
      <TurnTranscript
        turn={turnOf(parts)}
        partAt={(index) => parts[index]}
        host={hostOf({ thinking: "closed" })}
        targetPartId={target.id}
        search={query}
      />
    );
    const { rerender } = render(look(other, ""));
    expect(screen.queryByText("More of it.")).toBeNull();
    rerender(look(thought, "needle"));
    expect(screen.getByText("More of it.")).toBeTruthy();
    expect(screen.queryByText("More of the other.")).toBeNull();
    rerender(look(withdrawn, "needle"));
    expect(screen.getByText("A needle that was withdrawn.")).toBeTruthy();
    expect(screen.queryByRole("region", { name: "The whole prompt" })).toBeNull();
    rerender(look(long, "needle"));
    expect(screen.getByRole("region", { name: "The whole prompt" }).textContent).toContain("A needle.");
  });

  it("shows thinking, text, a call with its result, thinking and text in the order of the array", () => {
    const read = call("Read", { file_path: "src/a.ts" });
    show([
      thinking("first thought"),
      text("API types."),
      read,
      result(read, "contents"),
      thinking("second thought"),
      text("Let me read"),
    ]);
    expect(kinds()).toEqual(["thinking", "text", "tool", "thinking", "text"]);
    const shown = rows();
    expect(shown[0]).toContain("first thought");
    expect(shown[1]).toContain("API types.");
    expect(shown[2]).toContain("src/a.ts");
    expect(shown[3]).toContain("second thought");
    expect(shown[4]).toContain("Let me read");
  });

  it("keeps two adjacent texts of two steps separate", () => {
    show([text("API types.", { step: 1 }), text("Let me read", { step: 2 })]);
    expect(kinds()).toEqual(["text", "text"]);
    expect(screen.queryByText(/API types\.Let me read/)).toBeNull();
  });

  it("shows the other parts if one fails to render, with the reason, and retries it when it changes", () => {
    const logged = vi.mocked(console.error).mockImplementation(() => {});
    const host = hostOf();
    const read = call("Read", { file_path: "src/a.ts" });
    const broken = { ...read, state: undefined } as unknown as TranscriptPart;
    const turn = (parts: readonly TranscriptPart[]) => (
      <TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={host} />
    );
    const { rerender } = render(turn([text("API types."), broken, text("Done.")]));
    expect(rows()[0]).toContain("API types.");
    expect(rows()[1]).toMatch(/\[FAILED\] This part cannot be shown: .+ Its record is under Raw\./);
    expect(rows()[2]).toContain("Done.");
    expect(logged).toHaveBeenCalled();
    logged.mockClear();
    rerender(turn([text("API types."), read, text("Done.")]));
    expect(rows()[1]).toContain("src/a.ts");
  });

  it("has its prompt as heading, not as a row", () => {
    show([prompt("Fix the reader"), text("Done.")]);
    expect(screen.getByRole("heading", { level: 2, name: "Fix the reader" })).toBeTruthy();
    expect(kinds()).toEqual(["text"]);
  });

  it("keeps a prompt that was typed while the agent worked in its place", () => {
    show([prompt("Start"), text("a"), prompt("And also this", { queued: true }), text("b")]);
    expect(kinds()).toEqual(["text", "prompt", "text"]);
    expect(screen.getByText("Sent while working")).toBeTruthy();
  });

  it("labels prompts by a person as typed while the agent worked, and others as arrived", () => {
    for (const origin of ["notification", "agent", "command"] as const) {
      const { unmount } = show([prompt("Start"), prompt("It is done", { queued: true, origin })]);
      expect(screen.getByText("Arrived while the agent worked")).toBeTruthy();
      unmount();
    }
  });

  it("looks the same live and past, except for open parts", () => {
    const read = call("Read", { file_path: "src/a.ts" });
    const past = [
      prompt("Do it"),
      thinking("hm"),
      text("So **far**"),
      read,
      result(read, "x"),
      text("and `more`"),
    ];
    const live = past.map((part) =>
      part === past.at(-1) ? { ...part, open: true } : part,
    ) as TranscriptPart[];
    const first = show(past).container.innerHTML;
    document.body.replaceChildren();
    expect(show(live).container.innerHTML).toBe(first);
  });

  it("shows the thinking of a message without parts above its content", () => {
    show([legacy("The answer", { thinking: "The thought" })], hostOf({ thinking: "open" }));
    const [row] = rows();
    expect(row?.indexOf("The thought")).toBeLessThan(row?.indexOf("The answer") ?? -1);
    expect(row).toContain("The thought");
  });

  it("reserves space for a part that is not loaded", () => {
    const parts = [text("a"), text("c")];
    render(
      <TurnTranscript
        turn={turnOf([...parts, text("b")])}
        partAt={(index) => (index === 1 ? undefined : parts[index === 0 ? 0 : 1])}
        host={hostOf()}
      />,
    );
    expect(screen.getByText("not loaded yet")).toBeTruthy();
  });

  it("renders only the rows of a window, and measures them", () => {
    const parts = [prompt("p"), text("a"), text("b"), text("c")];
    const measured: (string | undefined)[] = [];
    const window: TurnWindow = {
      height: 900,
      rows: [{ index: 2, top: 120 }],
      measure: (element) => {
        if (element) measured.push(element.dataset.index);
      },
    };
    render(
      <TurnTranscript
        turn={turnOf(parts)}
        partAt={(index) => parts[index]}
        host={hostOf()}
        window={window}
      />,
    );
    const row = screen.getByRole("article");
    expect(row.style.top).toBe("120px");
    expect(row.textContent).toContain("b");
    expect(measured.sort()).toEqual(["2", undefined].sort());
  });

  it("marks and opens the part that the address names", () => {
    const bash = call("Bash", { command: "ls" });
    show([text("a"), bash, result(bash, "file-one")], hostOf(), bash.id);
    const row = document.getElementById(`part-${bash.id}`);
    expect(row?.getAttribute("aria-current")).toBe("location");
    expect(row?.textContent).toContain("file-one");
  });

  it("hides steps unless they are switched on", () => {
    const step = { ...text("x"), id: idOf("step"), type: "step_start" as const, model: "some-model" };
    const parts: TranscriptPart[] = [step, text("a")];
    const { unmount } = show(parts);
    expect(screen.queryByText(/some-model/)).toBeNull();
    unmount();
    show(parts, hostOf({ showSteps: true }));
    expect(screen.getByText(/some-model/)).toBeTruthy();
  });

  it("stores opened parts in the screen", async () => {
    const host = hostOf();
    const bash = call("Bash", { command: "ls" });
    const parts = [bash, result(bash, "file-one")];
    const { unmount } = show(parts, host);
    expect(screen.queryByText("file-one")).toBeNull();
    await userEvent.click(screen.getByText("ls"));
    expect(screen.getByText("file-one")).toBeTruthy();
    expect(host.opened.get(bash.id)).toBe(true);
    unmount();
    show(parts, host);
    expect(screen.getByText("file-one")).toBeTruthy();
  });

  it("marks a part that was changed after its turn ended, with the time", () => {
    const revised_at = START + 60_000;
    const bash = call("Bash", { command: "ls" });
    show([
      text("I look.", { revised_at }),
      bash,
      result(bash, "nothing", { revised_at }),
      text("As it was."),
      text("I looked.", { revised_at: 0 }),
    ]);
    const notes = screen.getAllByText(/^Changed after the turn's end/);
    expect(notes.map((note) => note.closest("article")?.getAttribute("aria-label"))).toEqual([
      "text",
      "Bash: ls",
      "text",
    ]);
    expect(notes[0]?.querySelector("time")?.dateTime).toBe(new Date(revised_at).toISOString());
    // The time is unknown.
    expect(notes[2]?.textContent).toBe("Changed after the turn's end");
  });

  it("folds a retracted part to its first words, and opens to the reason and the text", async () => {
    const { container } = show([
      text("A *withdrawn* answer,\n\nof two paragraphs.", { retracted: "The request was tried again" }),
    ]);
    const line = screen.getByRole("button", {
      name: "withdrawn A *withdrawn* answer, of two paragraphs.",
      expanded: false,
    });
    expect(screen.queryByText("The request was tried again")).toBeNull();
    expect(container.querySelector("em")).toBeNull();
    await userEvent.click(line);
    expect(screen.getByText("The request was tried again")).toBeTruthy();
    expect(container.querySelector("em")?.textContent).toBe("withdrawn");
  });

  it("shows the reason of a retracted part without text", () => {
    show([text("", { retracted: "The request was tried again", open: true })]);
    expect(screen.getByRole("button", { name: "withdrawn The request was tried again" })).toBeTruthy();
  });

  it("shows the record of a part with its file, line and byte", async () => {
    const host = hostOf({
      loadRaw: async () => ({
        file: "/logs/a.jsonl",
        line: 12,
        byte: 48213,
        length: 30,
        text: '{"n":1.10,"a":[]}',
        archived: false,
      }),
    });
    show([text("a")], host);
    await userEvent.click(screen.getByRole("button", { name: /^Raw/ }));
    expect(await screen.findByText(/48,213/)).toBeTruthy();
    // Numbers stay as they were written.
    expect(document.querySelector(".raw-view code")?.textContent).toBe('{\n  "n": 1.10,\n  "a": []\n}');
  });

  it("indents a record once, even if its part changes", async () => {
    const record = '{"n":1,"a":[]}';
    const host = hostOf({
      loadRaw: async () => ({ file: "/l", line: 1, byte: 0, length: 14, text: record, archived: false }),
    });
    const turn = (part: TranscriptPart) => (
      <TurnTranscript turn={turnOf([part])} partAt={() => part} host={host} />
    );
    const part = text("a");
    const { rerender } = render(turn(part));
    const looks = vi.spyOn(RegExp.prototype, "exec");
    const looksAtRecord = () => looks.mock.calls.filter(([read]) => read === record).length;
    await userEvent.click(screen.getByRole("button", { name: /^Raw/ }));
    await screen.findByText("record");
    const before = looksAtRecord();
    expect(before).toBeGreaterThan(0);
    rerender(turn({ ...part, text: "ab" }));
    expect(screen.getByText("ab")).toBeTruthy();
    expect(looksAtRecord()).toBe(before);
    looks.mockRestore();
  });

  it("shows the records of a call and of its result together", async () => {
    const bash = call("Bash", { command: "ls" });
    const asked: string[] = [];
    const host = hostOf({
      loadRaw: async (id) => {
        asked.push(id);
        return { file: "/l", line: asked.length, byte: 0, length: 2, text: "{}", archived: false };
      },
    });
    const answer = result(bash, "x");
    show([bash, answer], host);
    await userEvent.click(screen.getByRole("button", { name: /^Raw/ }));
    await screen.findByText(/\/l:2/);
    expect(asked).toEqual([bash.id, answer.id]);
  });

  it("shows that a turn was stopped", () => {
    const parts = paired([prompt("Do it"), text("a")]);
    const turn = { ...turnOf(parts), status: "interrupted" as const };
    render(<TurnTranscript turn={turn} partAt={(index) => parts[index]} host={hostOf()} />);
    expect(document.querySelector(".turn-state")?.textContent).toBe("stopped");
  });

  describe("shows below a turn why it ended", () => {
    const bash = call("Bash", { command: "ls" });
    const usedTools = [bash, stepEnd("tool_use"), result(bash, "a.ts")];
    const foot = (
      given: readonly TranscriptPart[],
      status: Turn["status"] = "completed",
      facts: Partial<Turn> = {},
    ) => {
      const parts = paired([prompt("Do it"), ...given]);
      const { unmount } = render(
        <TurnTranscript
          turn={turnOf(parts, { status, ended_at: START + 62_000, steps: 1, ...facts })}
          partAt={(index) => parts[index]}
          host={hostOf()}
        />,
      );
      const words = document.querySelector(".turn-foot > p")?.lastChild?.textContent;
      unmount();
      return words;
    };

    it("by the stop reason of the last step, ignoring later parts that are not the model's", () => {
      expect(foot([text("Done."), stepEnd("stop")])).toBe("end of turn · 1 min 2 s");
      expect(foot([text("Done."), stepEnd("stop"), marker("hook", "Stop"), unknown({})])).toBe(
        "end of turn · 1 min 2 s",
      );
      expect(foot([text("Do"), stepEnd("length")])).toBe("output limit reached · 1 min 2 s");
    });

    it("and names its tools if only their results follow", () => {
      expect(foot(usedTools)).toBe("ended after tool calls · 1 min 2 s");
      expect(foot([...usedTools, marker("context", "What files changed")])).toBe("1 min 2 s");
    });

    it("not by a step that is followed by one without an end or a reason", () => {
      expect(foot([...usedTools, text("All done.", { step: 2 })])).toBe("1 min 2 s");
      const end = stepEnd(undefined, { step: 2 });
      expect(foot([...usedTools, text("All done.", { step: 2 }), end])).toBe("1 min 2 s");
    });

    it("as stopped if it was stopped", () => {
      expect(foot([...usedTools, marker("interrupt", "Interrupted")], "interrupted")).toBe(
        "stopped · 1 min 2 s",
      );
      expect(foot([text("Let me")], "interrupted")).toBe("stopped · 1 min 2 s");
    });

    it("as failed if an error ended it, with the provider's reason if there is one", () => {
      const broken = marker("error", "stream disconnected before completion");
      expect(foot([...usedTools, broken], "failed")).toBe("ended in an error · 1 min 2 s");
      const said = stepEnd("error", { reason_raw: "overloaded" });
      expect(foot([text("Let me"), said, broken], "failed")).toBe(
        "ended in an error (overloaded) · 1 min 2 s",
      );
    });

    it("as without a recorded end if its record stops", () => {
      const broken = [...usedTools, call("Bash", { command: "make" })];
      expect(foot(broken, "failed", { no_end: true })).toBe("no end recorded · 1 min 2 s");
    });

    it("as cut off if its agent ended without a stop", () => {
      const cutOff = "cut off · 1 min 2 s";
      expect(foot([...usedTools, call("Bash", { command: "make" })], "failed")).toBe(cutOff);
      const daemon = marker("interrupt", "Interrupted: The daemon ended");
      expect(foot([text("The beginning of"), stepEnd("aborted"), daemon], "failed")).toBe(cutOff);
    });

    it("consistently with its heading, whatever follows its answer", () => {
      const hook = marker("error", "hook script failed");
      expect(foot([text("Done."), stepEnd("stop"), hook])).toBe("end of turn · 1 min 2 s");
    });

    it("not before its end is loaded", () => {
      const parts = paired([prompt("Do it"), ...usedTools, text("All done.", { step: 2 })]);
      render(
        <TurnTranscript
          turn={turnOf(parts, { ended_at: START + 62_000, steps: 1 })}
          partAt={(index) => (index === parts.length - 1 ? undefined : parts[index])}
          host={hostOf()}
        />,
      );
      expect(document.querySelector(".turn-foot")?.textContent).not.toContain("tools");
    });
  });

  it("names each call and its actions, with subject and state", () => {
    const [dev, read] = [{ command: "pnpm dev" }, { file_path: "src/a.ts" }];
    const calls = [
      call("Bash", dev, { state: failed(dev, "no such script") }),
      call("Read", read),
      call("Grep", { pattern: "tide" }, { state: running({ pattern: "tide" }) }),
      call("WebFetch", {}, { state: aborted({}), arguments_json: "" }),
    ];
    show([text("Let me look."), ...calls]);
    const names = [
      "text",
      "Bash: pnpm dev, failed",
      "Read: src/a.ts",
      "Grep: tide, running",
      "WebFetch, stopped",
    ];
    for (const role of ["article", "heading"] as const) {
      const found = screen.getAllByRole(role, role === "heading" ? { level: 3 } : {});
      expect(found.map((element) => element.getAttribute("aria-label"))).toEqual(names);
    }
    const row = within(screen.getByRole("article", { name: "Bash: pnpm dev, failed" }));
    expect(row.getByRole("button", { name: "Copy Bash: pnpm dev" })).toBeTruthy();
    expect(row.getByRole("link", { name: "Link to Bash: pnpm dev" })).toBeTruthy();
    expect(row.getByRole("button", { name: "Raw record of Bash: pnpm dev" })).toBeTruthy();
    const said = within(screen.getByRole("article", { name: "text" }));
    expect(said.getByRole("button", { name: "Copy this text" })).toBeTruthy();
    expect(said.getByRole("button", { name: "Raw record of this text" })).toBeTruthy();
  });

  it("separates the cells of a line by spaces, for copying", () => {
    const bash = call("Bash", { command: "ls x" }, { state: failed({ command: "ls x" }, "no such file x") });
    const stopped = call("Read", { file_path: "a.ts" }, { state: aborted({}) });
    show([
      thinking("Let me look."),
      bash,
      result(bash, "no such file x"),
      stopped,
      { ...result(call("Grep", {}), "one match"), tool_name: "Grep" },
      marker("error", "It broke"),
      legacy("Then it works.", { thinking: "An old thought" }),
    ]);
    expect(rows().map((row) => row.replace(/\s+/g, " "))).toEqual([
      expect.stringContaining("Let me look. "),
      expect.stringContaining("[FAILED] Bash ls x no such file x 0.8 s"),
      expect.stringContaining("stopped Read a.ts"),
      expect.stringContaining("[OK] Grep one match result without a call"),
      expect.stringContaining("[FAILED] It broke"),
      expect.stringContaining("Thinking of the whole message 14 characters"),
    ]);
  });

  it("shows why a record could not be read, and the part itself", async () => {
    const host = hostOf({ loadRaw: () => Promise.reject(new Error("the file is gone")) });
    show([text("a")], host);
    await userEvent.click(screen.getByRole("button", { name: /^Raw/ }));
    expect((await screen.findByRole("alert")).textContent).toContain("the file is gone");
    expect(document.querySelector(".raw-view code")?.textContent).toContain('"type": "text"');
  });
});

describe("thinking", () => {
  it("is one line with its length and time while it is closed", () => {
    show([thinking("Let me look.\n\nMore of it.", { ended_at: START + 4_200 })]);
    const [row] = rows();
    expect(row).toContain("Let me look.");
    expect(row).toContain("4.2 s");
    expect(row).not.toContain("characters");
    expect(row).not.toContain("More of it.");
  });

  it("says how long a long one is", () => {
    show([thinking(`Let me look.\n\n${"More of it. ".repeat(100)}`)]);
    expect(rows()[0]).toContain("1.2k characters");
  });

  it("is open while it grows and closes afterwards, if the setting is on", () => {
    const host = hostOf({ thinking: "open-while-live" });
    const grown = thinking("growing\n\nthought", { open: true });
    const { rerender } = render(<TurnTranscript turn={turnOf([grown])} partAt={() => grown} host={host} />);
    expect(screen.getByText("thought")).toBeTruthy();
    const { open: _, ...done } = grown;
    rerender(<TurnTranscript turn={turnOf([done])} partAt={() => done} host={host} />);
    expect(screen.queryByText("thought")).toBeNull();
  });

  it("begins with the first line of its current text", () => {
    const host = hostOf({ thinking: "closed" });
    const show = (part: TranscriptPart) => (
      <TurnTranscript turn={turnOf([part])} partAt={() => part} host={host} />
    );
    const first = thinking("\nThe ti", { open: true });
    const { rerender } = render(show(first));
    expect(screen.getByText("The ti")).toBeTruthy();
    const grown = thinking("\nThe tide", { open: true });
    recordGrowth(first, grown, "de", 9);
    rerender(show(grown));
    expect(screen.getByText("The tide")).toBeTruthy();
    const more = thinking("\nThe tide\nturns", { open: true });
    recordGrowth(grown, more, "\nturns", 15);
    rerender(show(more));
    expect(screen.getByText("The tide")).toBeTruthy();
    rerender(show(thinking("\nAnother\ntext", {})));
    expect(screen.getByText("Another")).toBeTruthy();
  });

  it("is marked as encrypted without text", () => {
    show([thinking("", { hidden: "encrypted" })], hostOf({ everyRecord: true }));
    expect(screen.getByText("Thinking (encrypted)")).toBeTruthy();
  });

  it("without text is folded into the next row, opens in place, and is counted in the foot", async () => {
    const hidden = [
      thinking("", { hidden: "encrypted", at: 1_000, ended_at: 5_000 }),
      thinking("", { hidden: "encrypted", id: "00000000-0000-4000-9000-000000000002" }),
    ];
    const showEveryRecord = vi.fn();
    const { container } = show([...hidden, text("The answer.")], hostOf({ showEveryRecord }));
    expect(container.querySelectorAll(".part-row")).toHaveLength(1);
    const mark = screen.getByRole("button", { name: "2 thoughts 7 s, encrypted" });
    expect(screen.queryByText("Thinking (encrypted)")).toBeNull();
    await userEvent.click(mark);
    expect(screen.getAllByText("Thinking (encrypted)")).toHaveLength(2);
    for (const { id } of hidden) expect(document.getElementById(`part-${id}`)).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "2 thoughts not recorded" }));
    expect(showEveryRecord).toHaveBeenCalledOnce();
  });

  it("without text has a row if every record is shown", () => {
    const { container } = show(
      [thinking("", { hidden: "empty" }), text("The answer.")],
      hostOf({ everyRecord: true }),
    );
    expect(container.querySelectorAll(".part-row")).toHaveLength(2);
    expect(screen.queryByRole("button", { name: /not recorded/ })).toBeNull();
  });

  it("loads the rest of a truncated thought", async () => {
    const cut = thinking("the beginning", { truncated: { thinking: 100_000 } });
    const host = hostOf({
      thinking: "open",
      loadWhole: async () => ({ ...cut, thinking: "the beginning and the end" }),
    });
    show([cut], host);
    await userEvent.click(screen.getByRole("button", { name: /Load the rest/ }));
    expect(await screen.findByText("the beginning and the end")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /Load the rest/ })).toBeNull();
  });

  it("loads the rest of a thought again when it has grown since", async () => {
    const cut = thinking("the beginning", { open: true, truncated: { thinking: 100_000 } });
    let words = "the beginning and the middle";
    const host = hostOf({ thinking: "open", loadWhole: async () => ({ ...cut, thinking: words }) });
    const { rerender } = render(<TurnTranscript turn={turnOf([cut])} partAt={() => cut} host={host} />);
    await userEvent.click(screen.getByRole("button", { name: /Load the rest/ }));
    expect(await screen.findByText("the beginning and the middle")).toBeTruthy();
    const grown = { ...cut, truncated: { thinking: 200_000 } };
    rerender(<TurnTranscript turn={turnOf([grown])} partAt={() => grown} host={host} />);
    words += " and the end";
    await userEvent.click(screen.getByRole("button", { name: /Load the rest \(200 KB/ }));
    expect(await screen.findByText("the beginning and the middle and the end")).toBeTruthy();
  });
});

describe("a truncated prompt", () => {
  const beginning = "Read this log. ".repeat(30);
  const cut = prompt("log", {
    parts: [
      { type: "text", text: "Short." },
      { type: "text", text: beginning },
    ],
    truncated: { "parts.1": 100_000 },
  });

  it("is marked at its end, and loads the rest", async () => {
    const whole = {
      ...cut,
      parts: cut.parts.with(1, { type: "text", text: `${beginning}\n\nThe very end.` }),
    };
    show([cut, text("a")], hostOf({ loadWhole: async () => whole }));
    await userEvent.click(screen.getByRole("button", { name: "Show all" }));
    expect(screen.queryByText("The very end.")).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Load the rest (100 KB in all)" }));
    expect(await screen.findByText("The very end.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /Load the rest/ })).toBeNull();
  });

  it("is marked inside its turn, even if it cannot be loaded", () => {
    show([text("a"), { ...cut, queued: true }]);
    expect(screen.getByText("Truncated here, 100 KB in all.")).toBeTruthy();
  });

  it("shows why the rest could not be loaded, or that the part has changed", async () => {
    const answers = [() => Promise.reject(new Error("gone")), async () => text("another")];
    const host = hostOf({ loadWhole: () => answers.shift()?.() ?? Promise.reject(new Error("asked again")) });
    show([text("a"), { ...cut, queued: true }], host);
    await userEvent.click(screen.getByRole("button", { name: /Load the rest/ }));
    expect((await screen.findByRole("alert")).textContent).toBe("Not loaded: gone");
    await userEvent.click(screen.getByRole("button", { name: /Load the rest/ }));
    await waitFor(() => expect(screen.getByRole("alert").textContent).toMatch(/this part has changed/));
    expect(screen.getByText(/Read this log/)).toBeTruthy();
  });
});

describe("loaded and opened content", () => {
  const beginning = { truncated: { text: 100_000 } };
  const host = () =>
    hostOf({
      loadWhole: async (id) => ({ ...text("x"), id, text: `the whole of ${id}` }),
      loadRaw: async (id) => ({
        file: `/logs/${id}.jsonl`,
        line: 1,
        byte: 0,
        length: 2,
        text: "{}",
        archived: false,
      }),
    });
  /** The same turn with other parts: its file was rewritten. */
  const turn = (parts: readonly TranscriptPart[], of: TranscriptHost) => (
    <TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={of} />
  );

  it("belongs to its part: another part in its place is shown as received", async () => {
    const of = host();
    const cut = text("first", beginning);
    const other = text("second", beginning);
    const { rerender } = render(turn([cut], of));
    await userEvent.click(screen.getByRole("button", { name: /Load the rest/ }));
    await userEvent.click(screen.getByRole("button", { name: /^Raw/ }));
    expect(await screen.findByText(`the whole of ${cut.id}`)).toBeTruthy();
    expect(await screen.findByText(new RegExp(`/logs/${cut.id}`))).toBeTruthy();
    rerender(turn([other], of));
    expect(screen.getByText("second")).toBeTruthy();
    expect(screen.getByRole("button", { name: /Load the rest/ })).toBeTruthy();
    expect(screen.queryByText(new RegExp(cut.id))).toBeNull();
    expect(screen.getByRole("button", { name: /^Raw/ }).getAttribute("aria-expanded")).toBe("false");
  });

  it("moves with its part", async () => {
    const of = host();
    const [bash, read] = [call("Bash", { command: "ls" }), call("Read", { file_path: "a.ts" })];
    const { rerender } = render(turn(paired([bash, result(bash, "file-one")]), of));
    await userEvent.click(screen.getByText("ls"));
    expect(screen.getByText("file-one")).toBeTruthy();
    rerender(turn(paired([read, bash, result(read, "contents"), result(bash, "file-one")]), of));
    expect(screen.queryByText("contents")).toBeNull();
    expect(screen.getByText("file-one")).toBeTruthy();
  });

  it("belongs to its group or heading", async () => {
    const of = host();
    const hooks = [1, 2, 3, 4].map((n) => marker("hook", `Hook ${n}`));
    const [long, longer] = ["Read it. ".repeat(40), "Write it. ".repeat(40)];
    const { rerender } = render(turn([prompt(long), ...hooks.slice(0, 2)], of));
    await userEvent.click(screen.getByRole("button", { name: "2 hooks" }));
    await userEvent.click(screen.getByRole("button", { name: "Show all" }));
    rerender(turn([prompt(longer), ...hooks.slice(2)], of));
    expect(screen.getByRole("button", { name: "2 hooks" }).getAttribute("aria-expanded")).toBe("false");
    expect(screen.getByRole("button", { name: "Show all" })).toBeTruthy();
  });

  it("is dropped when its result or text is revised", async () => {
    const bash = call("Bash", { command: "ls" });
    const first = result(bash, "the first output", { truncated: { output_text: 9_000 } });
    const again = result(bash, "the second output", { truncated: { output_text: 9_500 } });
    const of = hostOf({
      loadWhole: async (id) =>
        id === first.id
          ? { ...first, output_text: "the first output, whole" }
          : { ...text("x"), id, text: "the first words, whole" },
    });
    of.setOpen(bash.id, true);
    const said = text("the first words", beginning);
    const revised = { ...text("the second words"), id: said.id };
    const { rerender } = render(turn(paired([bash, first, said]), of));
    await userEvent.click(screen.getByRole("button", { name: /Show all/ }));
    await userEvent.click(screen.getByRole("button", { name: /Load the rest/ }));
    expect(await screen.findByText("the first output, whole")).toBeTruthy();
    expect(await screen.findByText("the first words, whole")).toBeTruthy();
    rerender(turn(paired([bash, again, revised]), of));
    expect(screen.getByText("the second output")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Show all (9.5 KB)" })).toBeTruthy();
    expect(screen.getByText("the second words")).toBeTruthy();
  });
});

/** A clipboard item that accepts a promise of text. */
class PromisedWords {
  readonly items: Readonly<Record<string, Promise<Blob>>>;
  constructor(items: Readonly<Record<string, Promise<Blob>>>) {
    this.items = items;
  }
}
describe.each([
  { browser: "a browser whose clipboard takes words alone", Item: undefined },
  { browser: "a browser whose clipboard must be asked within the click", Item: PromisedWords },
])("what Copy copies in $browser", ({ Item }) => {
  const copied: string[] = [];
  let isClick = false;
  const take = async (words: () => string | Promise<string>): Promise<void> => {
    if (Item !== undefined && !isClick) throw new DOMException("Denied", "NotAllowedError");
    copied.push(await words());
  };
  beforeEach(() => {
    vi.stubGlobal("ClipboardItem", Item);
    Object.defineProperty(navigator, "clipboard", {
      configurable: true,
      value: {
        writeText: (words: string) => take(() => words),
        write: ([item]: PromisedWords[]) =>
          take(async () => (await item?.items["text/plain"])?.text() ?? "nothing"),
      },
    });
  });
  afterEach(() => {
    copied.splice(0);
    vi.unstubAllGlobals();
  });
  const copy = (name: string | RegExp = /^Copy (?!turn)/): void => {
    isClick = true;
    fireEvent.click(screen.getByRole("button", { name }));
    isClick = false;
  };
  /** A daemon with the complete parts. */
  const holding = (...wholes: TranscriptPart[]) =>
    hostOf({
      loadWhole: async (id) => wholes.find((whole) => whole.id === id) ?? Promise.reject(new Error("gone")),
    });

  it("contains all of a truncated text", async () => {
    const cut = text("The beginning", { truncated: { text: 100_000 } });
    show([cut], holding({ ...cut, text: "The beginning and the end" }));
    copy();
    expect(await screen.findByRole("button", { name: "Copied" })).toBeTruthy();
    expect(copied).toEqual(["The beginning and the end"]);
  });

  it("contains the whole input and output of a call, loading only truncated ones", async () => {
    const bash = call("Bash", { command: "ls" }, { truncated: { arguments_json: 9_000 } });
    const output = result(bash, "some", { truncated: { output_text: 9_000 } });
    const wholeCall = { ...bash, arguments_json: '{"command":"ls -a"}' };
    const first = show([bash, output], holding(wholeCall, { ...output, output_text: "some and more" }));
    copy();
    expect(await screen.findByRole("button", { name: "Copied" })).toBeTruthy();
    first.unmount();
    show([bash, result(bash, "all")], holding(wholeCall));
    copy();
    expect(await screen.findByRole("button", { name: "Copied" })).toBeTruthy();
    expect(copied).toEqual(["[OK] Bash ls -a\n    some and more", "[OK] Bash ls -a\n    all"]);
  });

  it("contains the whole prompt beside a turn's heading", async () => {
    const cut = prompt("The beginning", { truncated: { "parts.0": 100_000 } });
    show([cut], holding({ ...cut, parts: [{ type: "text", text: "The beginning and the end" }] }));
    copy("Copy prompt");
    expect(await screen.findByRole("button", { name: "Copied" })).toBeTruthy();
    expect(copied).toEqual(["The beginning and the end"]);
  });

  it("contains a call's command as run, with its other arguments", async () => {
    const calls = [
      call("Bash", { command: 'echo "a"\necho b', timeout: 5_000 }),
      call("Read", { file_path: "a.ts" }, { state: failed({}, "no such file") }),
      call("exec_command", { cmd: "ls" }, { state: running({}), progress: "\u001b[31ma.ts\u001b[0m" }),
      call("Bash", '{"command":'),
    ];
    for (const each of calls) {
      const { unmount } = show([each]);
      copy();
      expect(await screen.findByRole("button", { name: "Copied" })).toBeTruthy();
      unmount();
    }
    expect(copied).toEqual([
      '[OK] Bash echo "a"\n      echo b\n    with {"timeout":5000}',
      '[FAILED] Read {"file_path":"a.ts"}\n    no such file',
      "[RUNNING] exec_command ls\n    a.ts",
      '[OK] Bash {"command":',
    ]);
  });

  it("contains a whole turn as in the terminal, loading missing and truncated parts", async () => {
    const bash = call("Bash", { command: "ls" });
    const cut = text("The beginning", { truncated: { text: 100_000 } });
    const parts = paired([
      prompt("Look around"),
      thinking("Hm."),
      bash,
      cut,
      result(bash, "a.ts\nb.ts\n"),
      text(""),
      marker("interrupt", "Interrupted"),
    ]);
    const here = new Map(parts.slice(0, 3).map((part, index) => [index, part] as const));
    const host = {
      ...holding({ ...cut, text: "The beginning and the end" }),
      loadParts: async (from: number, to: number) => {
        for (const [index, part] of parts.entries()) if (index >= from && index < to) here.set(index, part);
      },
    };
    render(
      <TurnTranscript
        turn={turnOf(parts, { status: "interrupted" })}
        partAt={(index) => here.get(index)}
        host={host}
      />,
    );
    copy("Copy turn 1");
    expect(await screen.findByRole("button", { name: "Copied" })).toBeTruthy();
    expect(copied).toEqual([
      `── turn 1 stopped

> Look around

thinking │ Hm.

[OK] Bash ls
    a.ts
    b.ts

The beginning and the end

── interrupt: Interrupted
`,
    ]);
  });

  it("shows its progress, and loads truncated parts of a turn a few at a time, in order", async () => {
    const cut = Array.from({ length: 20 }, (_, index) => text(`cut ${index}`, { truncated: { text: 100 } }));
    const asked: (() => void)[] = [];
    let underWay = 0;
    let most = 0;
    const host = hostOf({
      loadWhole: (id) => {
        underWay += 1;
        most = Math.max(most, underWay);
        const part = cut.find((one) => one.id === id) ?? text("");
        return new Promise((resolve) => {
          asked.push(() => {
            underWay -= 1;
            resolve({ ...part, text: part.type === "text" ? part.text.replace("cut", "whole") : "" });
          });
        });
      },
    });
    const parts = paired([prompt("Go"), ...cut]);
    render(<TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={host} />);
    copy("Copy turn 1");
    const button = await screen.findByRole("button", { name: "Copying" });
    fireEvent.click(button);
    for (let given = 0; given < cut.length; given += 1) {
      await waitFor(() => expect(asked.length).toBeGreaterThan(0));
      // The last requested one arrives first.
      asked.pop()?.();
    }
    expect(await screen.findByRole("button", { name: "Copied" })).toBeTruthy();
    const wholes = cut.map((_, index) => `whole ${index}`);
    expect(copied).toEqual([`── turn 1 [OK]\n\n> Go\n\n${wholes.join("\n\n")}\n`]);
    expect(most).toBe(8);
  });

  it("fails with a message if a part of a turn cannot be loaded, and requests no more", async () => {
    const parts = [prompt("Look around"), ...Array.from({ length: 20 }, () => text("Done."))];
    const loadParts = vi.fn(async () => {});
    render(<TurnTranscript turn={turnOf(parts)} partAt={() => undefined} host={hostOf({ loadParts })} />);
    copy("Copy turn 1");
    expect(await screen.findByRole("button", { name: "Not loaded" })).toBeTruthy();
    expect(copied).toEqual([]);
    expect(loadParts).toHaveBeenCalledTimes(8);
  });

  it("fails with a message if the rest cannot be loaded or has changed", async () => {
    const cut = text("The beginning", { truncated: { text: 100_000 } });
    const first = show([cut], holding());
    copy();
    expect(await screen.findByRole("button", { name: "Not loaded" })).toBeTruthy();
    first.unmount();
    show([cut], holding({ ...prompt("another"), id: cut.id }));
    copy();
    expect(await screen.findByRole("button", { name: "Not loaded" })).toBeTruthy();
    expect(copied).toEqual([]);
  });

  it("fails with a message if the browser refuses", async () => {
    Object.defineProperty(navigator, "clipboard", { configurable: true, value: undefined });
    show([text("The words")]);
    copy();
    expect(await screen.findByRole("button", { name: "Not copied" })).toBeTruthy();
  });
});

describe("parallel calls", () => {
  it("show each its own state, in the order of the calls", () => {
    const input = { command: "x" };
    const calls = [
      call("Bash", { command: "one" }, { state: running(input) }),
      call("Bash", { command: "two" }),
      call("Bash", { command: "three" }, { state: failed(input, "boom") }),
      call("Bash", { command: "four" }, { state: aborted(input) }),
      call(
        "Bash",
        { command: "five" },
        {
          state: aborted(
            input,
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said: not that one.",
          ),
        },
      ),
      call("Bash", { command: "six" }, { state: { status: "pending", input, raw: "" } }),
    ];
    show([...calls, result(calls[2] ?? "", "boom"), result(calls[1] ?? "", "done")]);
    const shown = rows();
    expect(shown).toHaveLength(6);
    expect(shown[0]).toContain("[RUNNING]");
    expect(shown[1]).toContain("[OK]");
    expect(shown[2]).toContain("[FAILED]");
    expect(shown[3]).toContain("stopped");
    expect(shown[4]).toContain("refused");
    expect(shown[5]).toContain("waiting");
  });

  it.each([
    [{ kind: "refused", by: "person" }, "denied", "Denied by you"],
    [{ kind: "refused", by: "hook", name: "PreToolUse:Bash" }, "blocked", "Blocked by hook PreToolUse:Bash"],
    [{ kind: "refused", by: "rule", name: "Bash(rm:*)" }, "blocked", "Blocked by permission rule Bash(rm:*)"],
    [{ kind: "refused", by: "mode", name: "auto" }, "blocked", "Blocked by permission mode auto"],
    [{ kind: "refused" }, "refused", undefined],
    [{ kind: "stopped" }, "stopped", undefined],
    [{ kind: "stopped", by: "person" }, "stopped", "Stopped by you"],
    [{ kind: "unknown" }, "unknown", "Outcome unknown"],
  ] as const)("that neither succeeded nor failed say so, and by whom: %o", (outcome, badge, words) => {
    const input = { command: "x" };
    show([
      call("Bash", input, {
        state: {
          status: "aborted",
          input,
          outcome: { ...outcome, reason: "Not in here." },
          time: { start: 1, end: 2 },
        },
      }),
    ]);
    const [row = ""] = rows();
    expect(row).toContain(badge);
    expect(row).not.toContain("[FAILED]");
    if (words !== undefined) expect(row).toContain(words);
  });

  it("without a recorded end, of an agent that waits in its terminal, are open, not running, and have no clock", () => {
    const input = { command: "rm -r build" };
    const bash = call("Bash", input, { state: running(input) });
    const { unmount } = show([bash], hostOf({ waiting: true }));
    expect(rows()[0]).toContain("open");
    expect(rows()[0]).toContain("running or waiting for you");
    expect(rows()[0]).not.toContain("[RUNNING]");
    unmount();
    show([bash], hostOf({ waiting: true, is_managed: true }));
    expect(rows()[0]).toContain("[RUNNING]");
  });

  it("that wait for an approval are not running, and have no clock", () => {
    const input = { command: "rm -r build" };
    const bash = call("Bash", input, { state: running(input) });
    const other = call("Bash", { command: "ls" }, { state: running({ command: "ls" }) });
    show(
      [bash, other],
      hostOf({ waiting: true, is_managed: true, waitingCalls: new Set([bash.tool_call_id]) }),
    );
    const [first = "", second] = rows();
    expect(first).toContain("waiting");
    expect(first).not.toContain("[RUNNING]");
    expect(second).toContain("[RUNNING]");
    screen.getByRole("article", { name: /rm -r build, waiting$/ });
    screen.getByRole("article", { name: /ls, running$/ });
  });

  it("show the output of a running command so far", async () => {
    const bash = call(
      "Bash",
      { command: "npm test" },
      { state: running({ command: "npm test" }), progress: "12 passed\n" },
    );
    show([bash]);
    await userEvent.click(screen.getByText("npm test"));
    expect(screen.getByText("output so far")).toBeTruthy();
    expect(screen.getByText("12 passed")).toBeTruthy();
  });

  it("leave a result without a call alone in its place", async () => {
    show([text("a"), result("nobody", "an orphan's output"), text("b")]);
    expect(kinds()).toEqual(["text", "result", "text"]);
    expect(rows()[1]).toContain("result without a call");
    expect(rows()[1]).toContain("[OK]");
  });

  it("say of a result without a call that a person stopped it", async () => {
    show([result("nobody", "Stopped", { status: "aborted" })]);
    expect(rows()[0]).toContain("stopped");
    expect(rows()[0]).not.toContain("[FAILED]");
  });
});

describe("markers", () => {
  it("of a rewind link to the session before it, and show their other content", async () => {
    const session_id = idOf("before");
    show([
      marker("rewind", "Rewound", { data: { session_id } }),
      marker("rewind", "Again", { data: { n: 7 } }),
    ]);
    const link = screen.getByRole("link", { name: "Show it" });
    expect(link.getAttribute("href")).toBe(hostOf().runHref(session_id));
    await userEvent.click(screen.getByText("Again"));
    expect(screen.getByText(/"n"/)).toBeDefined();
  });

  it("have no link if they do not name a session", () => {
    show([marker("note", "Elsewhere", { data: { session_id: "../../launch?token=x" } })]);
    expect(screen.getByText("Elsewhere")).toBeDefined();
    expect(screen.queryByRole("link", { name: "Show it" })).toBeNull();
  });

  it("are one line each that opens to their content", async () => {
    show([
      marker("compaction", "Context compacted", { text: "The summary of it all" }),
      marker("interrupt", "Stopped by the user"),
      marker("error", "Overloaded", { data: { status: 529 } }),
      marker("model_switch", "Model changed to x"),
    ]);
    expect(kinds()).toEqual(["compaction", "interrupt", "error", "model"]);
    expect(screen.queryByText("The summary of it all")).toBeNull();
    await userEvent.click(screen.getByText("Context compacted"));
    expect(screen.getByText("The summary of it all")).toBeTruthy();
    await userEvent.click(screen.getByText("Overloaded"));
    expect(document.body.textContent).toContain('"status": 529');
  });

  it("of successful hooks are folded into their call's row, others have their own rows", async () => {
    const bash = call("Bash", { command: "ls" });
    const hook = (data: object) =>
      marker("hook", "PreToolUse:Bash: fine", {
        text: "fine",
        data: {
          type: "hook_success",
          hookEvent: "PreToolUse",
          exitCode: 0,
          toolUseID: bash.tool_call_id,
          ...data,
        },
      });
    const parts = [
      bash,
      hook({}),
      hook({ stdout: '{"hookSpecificOutput":{"additionalContext":"x"}}' }),
      hook({ exitCode: 1 }),
      hook({ hookEvent: "UserPromptSubmit" }),
      hook({ type: "hook_blocking_error" }),
      text("Done."),
      hook({ toolUseID: "another" }),
      text("More."),
    ];
    const { container } = show(parts);
    expect(container.querySelectorAll("[data-index]")).toHaveLength(4);
    const marks = screen.getAllByRole("button", { name: "1 hook" });
    expect(marks.map((mark) => mark.closest("[data-index]")?.getAttribute("data-index"))).toEqual(["0", "8"]);
    await userEvent.click(marks[0] as HTMLElement);
    expect(container.querySelector('[data-index="0"] .quiet-parts')?.textContent).toContain(
      "PreToolUse:Bash",
    );
  });

  describe("in long runs of hooks and retries", () => {
    const hooks = [1, 2, 3].map((n) => marker("hook", `Hook ${n}`, { text: `says ${n}` }));
    const retries = ["timeout", "API error 529"].map((why) => marker("retry", why));

    it("are one line each, which opens to all of them in order", async () => {
      show([text("a"), ...hooks, ...retries, marker("hook", "Hook 4"), text("b")]);
      expect(rows().map((row) => row.replace(/^\d\d:\d\d:\d\d/, ""))).toEqual([
        expect.stringContaining("a"),
        expect.stringContaining("3 hooks"),
        expect.stringContaining("2 retries, last: API error 529"),
        expect.stringContaining("Hook 4"),
        expect.stringContaining("b"),
      ]);
      expect(screen.queryByText("Hook 1")).toBeNull();
      await userEvent.click(screen.getByRole("button", { name: "3 hooks" }));
      const group = screen.getByRole("article", { name: "3 hooks" });
      const inside = within(group).getAllByRole("article", { name: "hook" });
      expect(inside.map(({ id }) => id)).toEqual(hooks.map(({ id }) => `part-${id}`));
      await userEvent.click(within(group).getByText("Hook 2"));
      expect(within(group).getByText("says 2")).toBeTruthy();
      expect(within(group).getAllByRole("link", { name: "Link to this hook" })).toHaveLength(3);
    });

    it("are opened by a link to one of them, which is marked", () => {
      show([...hooks, text("b")], hostOf(), hooks[1]?.id);
      expect(document.getElementById(`part-${hooks[1]?.id}`)?.getAttribute("aria-current")).toBe("location");
      expect(screen.getByText("says 2")).toBeTruthy();
      expect(screen.queryByText("says 1")).toBeNull();
    });

    it("show a hundred of a thousand, and more on request or by a link", async () => {
      const many = Array.from({ length: 1_000 }, (_, n) => marker("hook", `Hook ${n}`));
      const parts = paired([...many, text("b")]);
      const turn = { turn: turnOf(parts), partAt: (index: number) => parts[index], host: hostOf() };
      const { rerender } = render(<TurnTranscript {...turn} />);
      const shown = () => screen.getAllByRole("article", { name: "hook" }).map(({ id }) => id);
      const idsOf = (from: number, to: number) => many.slice(from, to).map(({ id }) => `part-${id}`);
      await userEvent.click(screen.getByRole("button", { name: "1,000 hooks" }));
      expect(shown()).toEqual(idsOf(0, 100));
      await userEvent.click(screen.getByRole("button", { name: "Show 100 of 900 more" }));
      expect(shown()).toEqual(idsOf(0, 200));
      rerender(<TurnTranscript {...turn} targetPartId={many[950]?.id ?? ""} />);
      expect(shown()).toEqual(idsOf(900, 1_000));
      expect(screen.queryByRole("button", { name: /more$/ })).toBeNull();
      await userEvent.click(screen.getByRole("button", { name: "Show 100 of 900 earlier" }));
      expect(shown()).toEqual(idsOf(800, 1_000));
    });

    it("are separated only by parts with rows", () => {
      const read = call("Read", { file_path: "a" });
      show([read, hooks[0] as TranscriptPart, result(read, "x"), hooks[1] as TranscriptPart]);
      expect(screen.getByRole("button", { name: "2 hooks" })).toBeTruthy();
      document.body.replaceChildren();
      show([hooks[0] as TranscriptPart, text("a"), hooks[1] as TranscriptPart]);
      expect(screen.queryByRole("button", { name: /hooks/ })).toBeNull();
    });

    it("open again when a link into them is followed", async () => {
      const parts = paired([...hooks, text("b")]);
      const host = hostOf();
      const turn = { turn: turnOf(parts), partAt: (index: number) => parts[index], host };
      const { rerender } = render(<TurnTranscript {...turn} />);
      const group = () => screen.getByRole("button", { name: "3 hooks" });
      await userEvent.click(group());
      await userEvent.click(group());
      expect(screen.queryByText("Hook 1")).toBeNull();
      rerender(<TurnTranscript {...turn} targetPartId={hooks[0]?.id ?? ""} />);
      expect(screen.getByText("Hook 1")).toBeTruthy();
    });
  });

  it("open an unknown record", async () => {
    show([unknown({ type: "brand-new", value: 7 }), unknown("{broken", { error: "no JSON at byte 7" })]);
    expect(rows()[1]).toContain("no JSON at byte 7");
    await userEvent.click(screen.getByText("Unknown record type"));
    expect(document.body.textContent).toContain('"type": "brand-new"');
  });

  it("open by keyboard", () => {
    show([marker("hook", "A hook ran", { text: "its words" })]);
    const summary = screen.getByText("A hook ran").closest("summary");
    expect(summary).not.toBeNull();
    // What Enter and Space do on a summary in a browser.
    fireEvent.click(summary as HTMLElement);
    expect(screen.getByText("its words")).toBeTruthy();
  });
});
