import { describe, expect, it } from "vitest";
import { callHead, type PlainForm, plainText, turnHead } from "../../src/model/parts/plain-text.ts";
import type { Request } from "../../src/model/request.ts";
import type { TranscriptPart, TranscriptPartOf } from "../../src/model/transcript/transcript.ts";
import {
  aborted,
  call,
  failed,
  idOf,
  legacy,
  marker,
  prompt,
  result,
  running,
  START,
  stepEnd,
  text,
  thinking,
  turnOf,
  unknown,
} from "../build.ts";

/** The brackets show which function of the form a text went through. */
const BRACKETS: PlainForm = {
  shorten: (words) => `‹${words}›`,
  output: (words) => (words === "" ? "" : `«${words}»`),
  title: (words) => `(${words})`,
  subject: ({ subject }) => (subject === undefined ? "" : `{${subject}}`),
};
const AS_IT_IS: PlainForm = { ...BRACKETS, shorten: (words) => words, output: (words) => words };

const plain = (part: TranscriptPart, of?: TranscriptPart, form = AS_IT_IS) => plainText(part, of, form);

const place = { id: idOf("part"), session_id: idOf("session"), message_id: idOf("message"), at: START };
const image: TranscriptPartOf<"image"> = {
  ...place,
  type: "image",
  media: { type: "image_url", url: "data:image/png;base64,iVBORw==" },
};

describe("a prompt", () => {
  it("has a mark before each line", () => {
    expect(plain(prompt("Look\n\naround"))).toBe("> Look\n> \n> around");
  });
  it("sent while the agent was working says so", () => {
    expect(plain(prompt("Wait", { queued: true }))).toBe("> (while it ran) Wait");
  });
  it("with only media names their kinds", () => {
    const parts = [image.media, { type: "file" as const, url: "data:,a", mime: "text/plain" }];
    expect(plain(prompt("", { parts }))).toBe("> [image_url] [file]");
  });
});

describe("thinking", () => {
  it("has a bar before each line", () => {
    expect(plain(thinking("Hm.\nYes."))).toBe("thinking │ Hm.\nthinking │ Yes.");
  });
  it("that is hidden says why", () => {
    expect(plain(thinking("", { hidden: "encrypted" }))).toBe("thinking │ (encrypted)");
    expect(plain(thinking(""))).toBe("thinking │ (empty)");
  });
});

it("an answer is only its text", () => {
  expect(plain(text("**Done.**\n"), undefined, BRACKETS)).toBe("**Done.**\n");
});

describe("a call", () => {
  it("is the command as it was run, its other arguments, and its result, indented", () => {
    const bash = call("Bash", { timeout: 5, command: "ls\npwd" });
    expect(plain(bash, result(bash, "a.ts\nb.ts"), BRACKETS)).toBe(
      '[OK] ‹Bash› ‹ls\n      pwd›\n    with ‹{"timeout":5}›\n    «a.ts\n    b.ts»',
    );
    const exec = call("exec_command", { cmd: "ls" });
    expect(plain(exec, result(exec, ""))).toBe("[OK] exec_command ls");
    expect(plain(call("mcp__linear__get_issue", "{}"))).toBe("[OK] mcp__linear__get_issue {}");
  });

  it("has its other arguments digit for digit, in order", () => {
    const json = '{"b": 12345678901234567890, "command": "ls", "a": {"x": [1.0]}, "__proto__": null}';
    expect(plain(call("Bash", json))).toBe(
      '[OK] Bash ls\n    with {"b":12345678901234567890,"a":{"x": [1.0]},"__proto__":null}',
    );
  });

  it("indents its command so that no line looks like a call or a turn", () => {
    const command = "cat <<END\n[OK] Bash rm\n── turn 9 [OK]\nEND";
    expect(plain(call("Bash", { command }))?.match(/^\S.*/gm)).toEqual(["[OK] Bash cat <<END"]);
  });

  it("of another tool has its arguments unchanged", () => {
    for (const json of [
      '{"file_path":"a.ts"}',
      '{"command":["ls"]}',
      '{"command":""}',
      '{"command":',
      '["ls"]',
      "null",
      '"ls"',
      "",
    ])
      expect(plain(call("Read", json))).toBe(`[OK] Read ${json}`);
  });

  it("has only the first line of its tool's name", () => {
    expect(plain(call("Bash\n[OK] rm", "{}"))).toBe("[OK] Bash {}");
  });

  it("has its status", () => {
    const input = {};
    const states: [TranscriptPartOf<"tool_call">["state"], string][] = [
      [{ status: "pending", input, raw: "{}" }, "[RUNNING] Bash {}"],
      [running(input), "[RUNNING] Bash {}"],
      [failed(input, "no such file"), "[FAILED] Bash {}\n    no such file"],
      [aborted(input), "[STOPPED] Bash {}"],
      [aborted(input, "A person said no."), "[STOPPED] Bash {}\n    A person said no."],
      [aborted(input, undefined, { kind: "refused" }), "[REFUSED] Bash {}"],
      [
        aborted(input, undefined, { kind: "refused", by: "hook", name: "PreToolUse" }),
        "[REFUSED] Bash {}\n    refused by a hook (PreToolUse)",
      ],
      [
        aborted(input, undefined, { kind: "stopped", by: "person" }),
        "[STOPPED] Bash {}\n    stopped by the user",
      ],
      [aborted(input, "The agent ended", { kind: "unknown" }), "[UNKNOWN] Bash {}\n    The agent ended"],
    ];
    for (const [state, expected] of states) expect(plain(call("Bash", input, { state }))).toBe(expected);
    const bash = call("Bash", input);
    expect(callHead(bash, "running", AS_IT_IS)).toBe("[RUNNING] Bash {}");
  });

  it("without a result has its progress, and why it ended", () => {
    const bash = call("Bash", { command: "ls" }, { state: running({}), progress: "a.ts" });
    expect(plain(bash, undefined, BRACKETS)).toBe("[RUNNING] ‹Bash› ‹ls›\n    «a.ts»");
    const state = failed({}, "killed");
    expect(plain(call("Bash", { command: "ls" }, { state, progress: "a.ts" }))).toBe(
      "[FAILED] Bash ls\n    a.ts\n    killed",
    );
  });

  it("has only its result's text once there is one", () => {
    const bash = call("Bash", { command: "ls" }, { state: failed({}, "exit 1"), progress: "a" });
    expect(plain(bash, result(bash, "a\nexit 1"))).toBe("[FAILED] Bash ls\n    a\n    exit 1");
    expect(plain(bash, text("no result"))).toBe("[FAILED] Bash ls\n    a\n    exit 1");
  });

  it("names its run, and the media of its result", () => {
    const run = { session_id: idOf("run"), name: "Explore" };
    const task = call("Task", {}, { run });
    expect(plain(task, result(task, "Found.", { parts: [image.media] }))).toBe(
      `[OK] Task {}\n    → run ${run.session_id} Explore\n    Found.\n    [image_url]`,
    );
    expect(plain(task, result(task, "", { parts: [image.media] }))).toContain("Explore\n    [image_url]");
    const { name: _, ...nameless } = run;
    expect(plain(call("Task", {}, { run: nameless }))).toBe(`[OK] Task {}\n    → run ${run.session_id} `);
  });
});

describe("a result", () => {
  it("is shown with its call", () => {
    expect(plain(result("call_1", "a", { call_index: 0 }))).toBeUndefined();
  });
  it("without a call is shown on its own", () => {
    expect(plain(result("call_1", "a\nb"))).toBe("[OK] result of call_1\n    a\n    b");
    expect(plain(result("call_1", "no", { status: "error" }))).toBe("[FAILED] result of call_1\n    no");
    expect(plain(result("call_1", "no", { status: "aborted", outcome: { kind: "refused" } }))).toBe(
      "[REFUSED] result of call_1\n    no",
    );
  });
});

it("an image or a file is named by its kind", () => {
  expect(plain(image)).toBe("[image_url]");
  const media = { type: "file" as const, url: "data:,a", mime: "text/plain" };
  expect(plain({ ...place, type: "file", media })).toBe("[file]");
});

it("the beginning and end of a step have no text", () => {
  expect(plain({ ...place, type: "step_start" })).toBeUndefined();
  expect(plain(stepEnd("stop"))).toBeUndefined();
});

describe("a marker", () => {
  it("is its kind and title, with its other text below", () => {
    expect(plain(marker("interrupt", "Interrupted"))).toBe("── interrupt: Interrupted");
    expect(plain(marker("error", "It broke", { text: "a\nb" }), undefined, BRACKETS)).toBe(
      "── error: It broke\n   ‹a\n   b›",
    );
  });
  it("does not repeat the end of its title", () => {
    expect(plain(marker("note", "Note: Away", { text: " away " }))).toBe("── note: Note: Away");
    expect(plain(marker("note", "Away", { text: "" }))).toBe("── note: Away");
  });
});

describe("a request", () => {
  const request: Request = {
    request_id: idOf("request"),
    kind: "approval",
    title: "Run it?",
    subject: "ls",
    options: [
      { id: "yes", label: "Allow" },
      { id: "no", label: "Deny" },
    ],
  };
  const asked = (given: Partial<TranscriptPartOf<"request">> = {}): TranscriptPartOf<"request"> => ({
    ...place,
    type: "request",
    request,
    ...given,
  });

  it("is the question and the answer, with its subject below", () => {
    const answer = { option_ids: ["no"], text: "not now" };
    expect(plain(asked({ outcome: "answered", answer }))).toBe(
      "── approval: (Run it?) → Deny, not now\n{ls}",
    );
    expect(plain(asked({ outcome: "answered", answer: { option_ids: ["yes"] } }))).toBe(
      "── approval: (Run it?) → Allow\n{ls}",
    );
  });
  it("without an answer says why there is none", () => {
    expect(plain(asked())).toBe("── approval: (Run it?) → not answered yet\n{ls}");
    expect(plain(asked({ outcome: "expired" }))).toBe("── approval: (Run it?) → expired\n{ls}");
    const { subject: _, ...bare } = request;
    expect(plain(asked({ request: bare }))).toBe("── approval: (Run it?) → not answered yet");
  });
});

it("an unknown record is unchanged, with its error", () => {
  expect(plain(unknown({ type: "new" }), undefined, BRACKETS)).toBe(
    '?? unknown record\n    «{"type":"new"}»',
  );
  expect(plain(unknown("{torn", { title: "line 3", error: "no valid JSON" }))).toBe(
    "?? line 3: no valid JSON\n    line 3\n    {torn",
  );
});

it("a message without parts is its thinking above its content", () => {
  expect(plain(legacy("Done.", { thinking: "Hm." }))).toBe("thinking │ Hm.\nDone.");
  expect(plain(legacy("Done."))).toBe("Done.");
  expect(plain(legacy("", { thinking: "Hm." }))).toBe("thinking │ Hm.");
});

it("a retracted part says so and why, unless it has no text", () => {
  const retracted = "replaced";
  expect(plain(text("Done.", { retracted }))).toBe("[withdrawn: replaced]\nDone.");
  expect(plain({ ...place, type: "step_start", retracted })).toBeUndefined();
});

it("a turn is headed by its number and status", () => {
  expect(turnHead(turnOf([], { index: 4 }))).toBe("── turn 5 [OK]");
  expect(turnHead(turnOf([], { status: "running" }))).toBe("── turn 1 [RUNNING]");
  expect(turnHead(turnOf([], { status: "failed" }))).toBe("── turn 1 [FAILED]");
  expect(turnHead(turnOf([], { status: "failed", no_end: true }))).toBe("── turn 1 [NO END]");
  expect(turnHead(turnOf([], { status: "interrupted", retracted: "undone" }))).toBe(
    "── turn 1 stopped [withdrawn: undone]",
  );
});
