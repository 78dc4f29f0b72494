import { createHash } from "node:crypto";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { Answer, Request } from "../../../src/model/request.ts";
import type { TranscriptPartOf } from "../../../src/model/transcript/transcript.ts";
import type { TranscriptHost } from "../../../src/web/transcript/host.ts";
import { TurnTranscript } from "../../../src/web/transcript/TurnTranscript.tsx";
import { hostOf, idOf, marker, prompt, START, turnOf } from "../../build.ts";
import { COMPOSING } from "../../composing.ts";

function requestPart(
  given: Partial<Request>,
  more: Partial<TranscriptPartOf<"request">> = {},
): TranscriptPartOf<"request"> {
  const id = idOf("request");
  return {
    id,
    session_id: idOf("session"),
    message_id: id,
    at: START,
    type: "request",
    request: {
      request_id: id,
      kind: "approval",
      title: "Run a command",
      tool_name: "shell",
      options: [
        { id: "once", label: "Allow once", kind: "allow_once" },
        { id: "always", label: "Always allow rm", kind: "allow_always" },
        { id: "no", label: "Reject", kind: "reject_once" },
      ],
      ...given,
    },
    ...more,
  };
}

type Sent = { digest?: string; answer: Answer };
function show(part: TranscriptPartOf<"request">, host: Partial<TranscriptHost> = {}) {
  const sent: Sent[] = [];
  const parts = [prompt("Do it"), part];
  const whole = hostOf({
    async answerRequest(_, body) {
      sent.push(body);
      return { outcome: "answered", answer: body.answer };
    },
    answerDrafts: new Map(),
    ...host,
  });
  const shown = render(<TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={whole} />);
  return { sent, ...shown };
}

/** Clicks a button after the time that a person needs to read the request. */
async function press(name: string) {
  const button = await screen.findByRole("button", { name });
  await waitFor(() => expect(button.getAttribute("aria-disabled")).toBe("false"));
  await userEvent.click(button);
}

describe("an approval", () => {
  it("shows all of what runs, and sends the digest of what it shows", async () => {
    const subject = "rm -rf build\n\techo done  \n";
    const { sent } = show(requestPart({ subject }));
    expect(screen.getByRole("group", { name: "Exactly what runs" }).textContent).toBe(subject);
    await press("Always allow rm");
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(sent[0]).toEqual({
      digest: createHash("sha256").update(subject).digest("hex"),
      answer: { option_ids: ["always"] },
    });
    expect(await screen.findByText("Allowed (Always allow rm)")).toBeTruthy();
  });

  it("is labelled by its question, as is its row, so that a screen reader names the focused one of several", () => {
    show(requestPart({ title: "Run a\u200b command" }));
    const name = "Approval: shell Run a⟨U+200B⟩ command";
    expect(screen.getByRole("region", { name })).toBeTruthy();
    expect(screen.getByRole("article", { name })).toBeTruthy();
  });

  it("marks invisible and confusable characters of a command", () => {
    show(requestPart({ subject: "cаt a\u202eb\u200b\u001b[31m ｒm аре" }));
    const box = screen.getByRole("group", { name: "Exactly what runs" });
    expect([...box.querySelectorAll("mark")].map((mark) => mark.textContent)).toEqual([
      "а⟨U+0430⟩",
      "U+202E",
      "U+200B",
      "U+001B",
      "ｒ⟨U+FF52⟩",
      "а⟨U+0430⟩",
      "р⟨U+0440⟩",
      "е⟨U+0435⟩",
    ]);
  });

  it("is not answered by a click that was meant for the content before it, however old it is", async () => {
    // No time passes until both are clicked, however busy the machine is.
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    const { sent } = show(requestPart({ subject: "make" }, { at: START }));
    for (const name of ["Allow once", "Reject"]) await userEvent.click(screen.getByRole("button", { name }));
    clock.mockRestore();
    await press("Always allow rm");
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(sent[0]?.answer).toEqual({ option_ids: ["always"] });
  });

  it.each([
    ["its window came to the front", () => fireEvent.focus(window)],
    ["its page became visible", () => fireEvent(document, new Event("visibilitychange"))],
  ])("is not answered by a click or a key from just before %s", async (_what, come) => {
    const { sent } = show(requestPart({ subject: "make" }));
    const allow = screen.getByRole("button", { name: "Allow once" });
    await waitFor(() => expect(allow.getAttribute("aria-disabled")).toBe("false"));
    allow.focus();
    come();
    for (const detail of [1, 0]) fireEvent.click(allow, { detail });
    expect(allow.getAttribute("aria-disabled")).toBe("true");
    await press("Reject");
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(sent[0]?.answer).toEqual({ option_ids: ["no"] });
  });

  it("is not answered while another window has the focus", async () => {
    const { sent } = show(requestPart({ subject: "make" }));
    const allow = screen.getByRole("button", { name: "Allow once" });
    await waitFor(() => expect(allow.getAttribute("aria-disabled")).toBe("false"));
    const hasFocus = vi.spyOn(document, "hasFocus").mockReturnValue(false);
    for (const detail of [1, 0]) fireEvent.click(allow, { detail });
    hasFocus.mockRestore();
    await press("Reject");
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(sent[0]?.answer).toEqual({ option_ids: ["no"] });
  });

  it("is not answered by the second click of a double click", async () => {
    const { sent } = show(requestPart({ subject: "make" }));
    const allow = screen.getByRole("button", { name: "Allow once" });
    await waitFor(() => expect(allow.getAttribute("aria-disabled")).toBe("false"));
    fireEvent.click(allow, { detail: 2 });
    await press("Reject");
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(sent[0]?.answer).toEqual({ option_ids: ["no"] });
  });

  it("is rejected with a reason; an approval sends no reason", async () => {
    const first = show(requestPart({ subject: "make", free_text: true }));
    await userEvent.type(screen.getByRole("textbox", { name: /Reason/ }), "use pnpm");
    await press("Reject");
    await waitFor(() => expect(first.sent[0]?.answer).toEqual({ option_ids: ["no"], text: "use pnpm" }));
    first.unmount();
    const second = show(requestPart({ subject: "make", free_text: true }));
    await userEvent.type(screen.getByRole("textbox", { name: /Reason/ }), "use pnpm");
    await press("Allow once");
    await waitFor(() => expect(second.sent[0]?.answer).toEqual({ option_ids: ["once"] }));
  });

  it("that was answered by keyboard leaves the focus on its row", async () => {
    show(requestPart({ subject: "make" }));
    screen.getByRole("button", { name: "Allow once" }).focus();
    await userEvent.keyboard("{Enter}");
    expect(await screen.findByText("Allowed once")).toBeTruthy();
    await waitFor(() =>
      expect(document.activeElement).toBe(screen.getByText("Allowed once").closest("article")),
    );
  });

  it("says when its answer was not delivered, and can be answered again", async () => {
    let tries = 0;
    show(requestPart({ subject: "make" }), {
      async answerRequest(_, { answer }) {
        tries += 1;
        if (tries === 1) throw new Error("The daemon does not answer.");
        return { outcome: "answered", answer };
      },
    });
    await press("Allow once");
    expect((await screen.findByRole("alert")).textContent).toBe("Not answered. The daemon does not answer.");
    await press("Allow once");
    expect(await screen.findByText("Allowed once")).toBeTruthy();
  });

  it("shows how long it still waits, and its outcome if nobody answered", () => {
    const open = show(requestPart({ subject: "make", expires_at: Date.now() + 3_600_000 }));
    expect(screen.getByText(/^expires in (1 h|59 min|60 min)/)).toBeTruthy();
    open.unmount();
    const past = show(requestPart({ subject: "make" }, { outcome: "expired" }));
    expect(screen.getByText("Denied: timed out")).toBeTruthy();
    past.unmount();
    show(requestPart({ subject: "make" }, { outcome: "cancelled" }));
    expect(screen.getByText("Cancelled before an answer")).toBeTruthy();
  });

  it.each([
    ["allow_once", "Allow", "Allowed"],
    ["allow_always", "Allow for this session", "Allowed for this session"],
    ["reject_once", "Deny", "Denied"],
    ["allow_once", "Yes, go on", "Allowed (Yes, go on)"],
    ["reject_always", "Never", "Denied (Never)"],
  ] as const)("that was answered by its option %s, %s, is shown as %s", (kind, label, outcome) => {
    const options = [{ id: "one", label, kind }];
    show(requestPart({ options }, { outcome: "answered", answer: { option_ids: ["one"] } }));
    expect(screen.getByText(outcome)).toBeTruthy();
  });

  it("is read-only if it cannot be answered here", () => {
    const parts = [requestPart({ subject: "make" })];
    render(<TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={hostOf()} />);
    expect(screen.getByRole("group", { name: "Exactly what runs" }).textContent).toBe("make");
    expect(screen.queryByRole("button", { name: "Allow once" })).toBeNull();
  });

  it("keeps the executed command one click away after it was answered", async () => {
    show(requestPart({ subject: "make" }, { outcome: "answered", answer: { option_ids: ["once"] } }));
    expect(screen.queryByRole("group", { name: "What was requested" })).toBeNull();
    await userEvent.click(screen.getByText("Allowed once"));
    expect(screen.getByRole("group", { name: "What was requested" }).textContent).toBe("make");
  });
});

describe("a question", () => {
  const asked: Partial<Request> = {
    kind: "question",
    title: "Which database?",
    options: [
      { id: "pg", label: "PostgreSQL", description: "Needs a server" },
      { id: "lite", label: "SQLite" },
      { id: "none", label: "None" },
    ],
  };

  it("accepts one option, and shows it afterwards", async () => {
    const { sent } = show(requestPart(asked));
    expect(screen.getByRole("button", { name: "Answer" }).hasAttribute("disabled")).toBe(true);
    await userEvent.click(screen.getByRole("radio", { name: /PostgreSQL/ }));
    await userEvent.click(screen.getByRole("radio", { name: "SQLite" }));
    await press("Answer");
    await waitFor(() => expect(sent).toEqual([{ answer: { option_ids: ["lite"] } }]));
    expect((await screen.findByText(/^Answered/)).textContent).toBe("Answered: SQLite");
  });

  it("accepts several options if allowed, in the offered order, and the user's own text", async () => {
    const { sent } = show(requestPart({ ...asked, multiple: true, free_text: true }));
    await userEvent.click(screen.getByRole("checkbox", { name: "None" }));
    await userEvent.click(screen.getByRole("checkbox", { name: /PostgreSQL/ }));
    await userEvent.type(screen.getByRole("textbox", { name: "In your own words" }), "ask Mara");
    await userEvent.keyboard("{Control>}{Enter}{/Control}");
    await waitFor(() => expect(sent).toEqual([{ answer: { option_ids: ["pg", "none"], text: "ask Mara" } }]));
  });

  it("leaves keys to an input method", async () => {
    show(requestPart(asked));
    await userEvent.click(screen.getByRole("radio", { name: "SQLite" }));
    for (const composing of COMPOSING)
      expect(
        fireEvent.keyDown(screen.getByRole("group"), { key: "Enter", ctrlKey: true, ...composing }),
      ).toBe(true);
  });

  it("keeps its state while its row is out of view", async () => {
    const answerDrafts: NonNullable<TranscriptHost["answerDrafts"]> = new Map();
    const first = show(requestPart({ ...asked, free_text: true }), { answerDrafts });
    await userEvent.click(screen.getByRole("radio", { name: "SQLite" }));
    await userEvent.type(screen.getByRole("textbox"), "for now");
    first.unmount();
    show(requestPart({ ...asked, free_text: true }), { answerDrafts });
    expect(screen.getByRole("radio", { name: "SQLite" })).toHaveProperty("checked", true);
    expect(screen.getByRole("textbox")).toHaveProperty("value", "for now");
  });
});

describe("a failure of a provider", () => {
  const remedy = { remedy: "Set ANTHROPIC_API_KEY to a valid key." };
  it.each([remedy, { can_retry: false, data: remedy }])(
    "shows the remedy as its next sentence: %j",
    (data) => {
      const parts = [prompt("Do it"), marker("error", "The key was rejected.", { data })];
      render(<TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={hostOf()} />);
      expect(screen.getByText(/^The key was rejected\./).textContent).toBe(
        "The key was rejected. Set ANTHROPIC_API_KEY to a valid key.",
      );
    },
  );
});
