import { fireEvent, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { UiExtra } from "../../../src/model/parts/ui-extra.ts";
import type { SessionSummary } from "../../../src/model/session.ts";
import type { TranscriptPartOf } from "../../../src/model/transcript/transcript.ts";
import type { TranscriptHost } from "../../../src/web/transcript/host.ts";
import { TurnTranscript } from "../../../src/web/transcript/TurnTranscript.tsx";
import { toolLabel } from "../../../src/web/transcript/tool-cards/tool-label.ts";
import { call, failed, hostOf, idOf, paired, result, running, turnOf } from "../../build.ts";

type Call = TranscriptPartOf<"tool_call">;

function show(of: Call, output?: string, ui_extra?: UiExtra, host: TranscriptHost = hostOf()) {
  const parts = paired(
    output === undefined ? [of] : [of, result(of, output, ui_extra === undefined ? {} : { ui_extra })],
  );
  return render(<TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={host} />);
}

/** The text of the closed line, with white space normalized. */
function line(): string {
  return (document.querySelector(".line")?.textContent ?? "").replace(/\s+/g, " ").trim();
}

const body = () => document.querySelector(".tool-body")?.textContent ?? "";
const openCard = async () => userEvent.click(document.querySelector("summary") as HTMLElement);

const closedLines: [string, Call, string | undefined, UiExtra | undefined, string][] = [
  ["a command", call("Bash", { command: "npm test" }), "ok", undefined, "[OK] Bash npm test 1.2 s"],
  ["a command of another agent", call("bash", { command: "ls" }), "ok", undefined, "[OK] Bash ls 1.2 s"],
  [
    "a command that failed",
    call(
      "Bash",
      { command: "npm test" },
      { state: failed({ command: "npm test" }, "Exit code 1\nError: no test") },
    ),
    "Exit code 1\nError: no test",
    { type: "shell", exit_code: 1 },
    "[FAILED] Bash npm test Error: no test exit 1 0.8 s",
  ],
  [
    "Codex's command",
    call("exec_command", { cmd: "git status", workdir: "/w" }),
    "clean",
    undefined,
    "[OK] Shell git status 1.2 s",
  ],
  [
    "Codex's look at a command that it began before",
    call("write_stdin", { session_id: 46504, chars: "" }),
    "still compiling",
    { type: "shell", command: "cargo build" },
    "[OK] Shell waits for cargo build 1.2 s",
  ],
  [
    "Codex's keys for such a command",
    call("write_stdin", { session_id: 7, chars: "y\n" }),
    "",
    { type: "shell", command: "npm init" },
    '[OK] Shell types "y\\n" into npm init 1.2 s',
  ],
  [
    "lines of a file that are none",
    call("Read", { file_path: "/w/a.ts" }),
    "a",
    { type: "read", path: "/w/a.ts", start_line: 1e308, line_count: 1e308 },
    "[OK] Read /w/a.ts 1 line 1.2 s",
  ],
  [
    "lines of a file that are asked for by no numbers of lines",
    call("Read", { file_path: "/w/a.ts", offset: -0.5, limit: 1e308 }),
    "a",
    undefined,
    "[OK] Read /w/a.ts 1 line 1.2 s",
  ],
  [
    "a file that Continue reads",
    call("read_file", { filepath: "src/a.ts" }),
    "a",
    undefined,
    "[OK] Read src/a.ts 1 line 1.2 s",
  ],
  [
    "a file that Continue writes",
    call("create_new_file", { filepath: "src/new.ts", contents: "a\nb\n" }),
    "created",
    { type: "diff", files: [] },
    "[OK] Write src/new.ts +22 lines added, −00 removed 1.2 s",
  ],
  [
    "a command whose words are not all words",
    call("Bash", { command: ["ls", { toString: null }], action: { command: [["-l"]] } }),
    "a.ts",
    undefined,
    "[OK] Bash 1.2 s",
  ],
  [
    "such a command under a number that is none",
    call("write_stdin", { session_id: { toString: null }, chars: "" }),
    undefined,
    undefined,
    "[OK] Shell waits for command 1.2 s",
  ],
  [
    "such a command of which no more is known",
    call("write_stdin", { session_id: 7, chars: "" }),
    undefined,
    undefined,
    "[OK] Shell waits for command 7 1.2 s",
  ],
  ...(
    [
      [
        "a command",
        'const r = await tools.exec_command({cmd:"rg -n \\"fn get\\" src && make","workdir":"/w"}); text(r.output)',
        'rg -n "fn get" src && make',
      ],
      [
        "several commands",
        "await Promise.all([\n tools.exec_command({ 'cmd': 'git log' }),\n tools.exec_command({cmd: `git\n diff`})])",
        "git log · git diff",
      ],
      ["a command under a name", "const cmd = 'ls'; await tools.exec_command({ cmd })", "exec_command"],
      [
        "a look at a command",
        'const r = await tools.write_stdin({"session_id":7,"chars":"","max_output_tokens":9})',
        "waits for command 7",
      ],
      [
        "keys for a command",
        "await tools.write_stdin({session_id: 7, chars: 'y\\n'})",
        'types "y\\n" into command 7',
      ],
      [
        "a patch",
        'const patch = "*** Begin Patch\\n*** Update File: src/a.rs\\n+x\\n*** Add File: b.rs\\n";\ntext(await tools.apply_patch(patch));',
        "Edit src/a.rs and 1 file more +11 line added, −00 removed",
      ],
      [
        "patches",
        'await tools.apply_patch("*** Update File: src/a.rs\n+x"); await tools.apply_patch("*** Add File: b.rs\n+y")',
        "Edit src/a.rs, b.rs",
      ],
      [
        "a plan",
        "const p = await tools.update_plan({explanation: 'Say \"step: done\"', plan: [{step:\"Read {all} of it\",status:\"completed\"},\n{'status': 'in_progress', 'step': 'Write it'}]}); text(p)",
        "Plan Write it 1 of 2 done",
      ],
      ["another tool", "// plan\nawait tools.update_plan({plan: []})", "update_plan"],
      ["none", "// sum\nlet sum = 1;\ntext(sum)", "let sum = 1;"],
      ["none to the end", 'tools.exec_command({cmd: "', "exec_command"],
    ] as const
  ).map(([what, script, subject]): (typeof closedLines)[number] => [
    `Codex's script with ${what}`,
    call("exec", script),
    "ok",
    undefined,
    /^(?:Edit|Plan) /.test(subject) ? `[OK] ${subject} 1.2 s` : `[OK] Shell ${subject} 1.2 s`,
  ]),
  [
    "Codex's script around a command that failed",
    call("exec", 'const r = await tools.exec_command({cmd:"cargo test"}); text(JSON.stringify(r))', {
      state: failed({}, "Script completed\nOutput:\nerror: no library targets"),
    }),
    "Script completed\nOutput:\nerror: no library targets",
    { type: "shell", exit_code: 101 },
    "[FAILED] Shell cargo test error: no library targets exit 101 0.8 s",
  ],
  [
    "an argument list",
    call("shell", { command: ["bash", "-lc", "ls -l"] }),
    "",
    undefined,
    "[OK] Shell ls -l 1.2 s",
  ],
  [
    "an edit with its payload",
    call("Edit", { file_path: "src/a.ts", old_string: "a", new_string: "b" }),
    "done",
    { type: "diff", files: [{ path: "src/a.ts", change: "update", additions: 12, deletions: 3, hunks: [] }] },
    "[OK] Edit src/a.ts +1212 lines added, −33 removed 1.2 s",
  ],
  [
    "an edit from its arguments",
    call("Edit", { file_path: "src/a.ts", old_string: "one\ntwo\n", new_string: "one\n2\nthree\n" }),
    undefined,
    undefined,
    "[OK] Edit src/a.ts +22 lines added, −11 removed 1.2 s",
  ],
  [
    "an edit of Kiro CLI",
    call("write", { command: "strReplace", path: "src/a.ts", oldStr: "one", newStr: "two" }),
    undefined,
    { type: "diff", files: [] },
    "[OK] Edit src/a.ts +11 line added, −11 removed 1.2 s",
  ],
  [
    "a file that the Kiro IDE wrote",
    call("fs_write", { path: "src/a.ts", text: "one\n" }),
    "Created the file.",
    { type: "diff", files: [] },
    "[OK] Write src/a.ts +11 line added, −00 removed 1.2 s",
  ],
  [
    "an edit of one line",
    call("Edit", { file_path: "src/a.ts", old_string: "one", new_string: "two" }),
    undefined,
    undefined,
    "[OK] Edit src/a.ts +11 line added, −11 removed 1.2 s",
  ],
  [
    "a write",
    call("Write", { file_path: "src/new.ts", content: "a\nb\n" }),
    "ok",
    undefined,
    "[OK] Write src/new.ts +22 lines added, −00 removed 1.2 s",
  ],
  [
    "a patch",
    call(
      "apply_patch",
      "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n+more\n*** Add File: b.rs\n+x\n*** End Patch",
    ),
    "Success",
    undefined,
    "[OK] Edit src/a.rs and 1 file more +33 lines added, −11 removed 1.2 s",
  ],
  [
    "several edits of a file",
    call("MultiEdit", {
      file_path: "a.ts",
      edits: [
        { old_string: "a", new_string: "b" },
        { old_string: "c", new_string: "d\ne" },
      ],
    }),
    "ok",
    undefined,
    "[OK] MultiEdit a.ts +33 lines added, −22 removed 1.2 s",
  ],
  [
    "a part of a file",
    call("Read", { file_path: "src/a.ts", limit: 80 }),
    "x",
    { type: "read", path: "src/a.ts", start_line: 1, line_count: 80, total_lines: 412 },
    "[OK] Read src/a.ts 1–80 80 of 412 lines 1.2 s",
  ],
  [
    "a file of which the agent got no lines",
    call("Read", { file_path: "src/a.ts" }),
    "The file has not changed since it was read.",
    { type: "read", path: "src/a.ts", instead: "unchanged" },
    "[OK] Read src/a.ts unchanged 1.2 s",
  ],
  [
    "a search",
    call("Grep", { pattern: "readTail", path: "src" }),
    "a.ts",
    { type: "search", match_count: 1, files: ["a.ts"] },
    "[OK] Grep readTail in src 1 match 1.2 s",
  ],
  [
    "files by name",
    call("Glob", { pattern: "**/*.ts" }),
    "a.ts",
    { type: "search", match_count: 2, files: [] },
    "[OK] Glob **/*.ts 2 matches 1.2 s",
  ],
  [
    "things to do",
    call("TodoWrite", {
      todos: [
        { content: "First", status: "completed" },
        { content: "Second", status: "in_progress" },
      ],
    }),
    "ok",
    undefined,
    "[OK] Todo Second 1 of 2 done 1.2 s",
  ],
  [
    "Codex's plan",
    call("update_plan", {
      plan: [
        { step: "Read", status: "completed" },
        { step: "Write", status: "pending" },
      ],
    }),
    "ok",
    undefined,
    "[OK] Plan Write 1 of 2 done 1.2 s",
  ],
  [
    "a web search",
    call("WebSearch", { query: "go version" }),
    "r",
    { type: "web_search", query: "go version", results: [{ title: "Go", url: "https://go.dev/" }] },
    "[OK] WebSearch go version 1 result 1.2 s",
  ],
  [
    "a page",
    call("WebFetch", { url: "https://go.dev/", prompt: "?" }),
    "r",
    { type: "web_fetch", url: "https://go.dev/", status: 200, byte_size: 8200 },
    "[OK] WebFetch https://go.dev/ 200 · 8.2 KB 1.2 s",
  ],
  [
    "an image",
    call("view_image", { path: "/tmp/pic.png" }),
    "ok",
    undefined,
    "[OK] View image /tmp/pic.png 1.2 s",
  ],
  [
    "an MCP tool by its name",
    call("mcp__linear-server__get_issue", { id: "ENT-98" }),
    "{}",
    undefined,
    "[OK] get_issue linear-server ENT-98 1.2 s",
  ],
  [
    "an MCP tool by its payload",
    call("get_issue", { id: "ENT-98" }),
    "{}",
    { type: "mcp", server: "linear", tool: "get_issue" },
    "[OK] get_issue linear ENT-98 1.2 s",
  ],
  [
    "a tool that is named as one that asks, and asks nobody",
    call("ask", { query: "what is x" }),
    "It is y.",
    undefined,
    "[OK] ask what is x 1.2 s",
  ],
  [
    "a question",
    call("AskUserQuestion", { questions: [{ question: "Which colour?", options: [{ label: "Red" }] }] }),
    "Red",
    { type: "question", questions: [{ question: "Which colour?", options: ["Red", "Blue"], answer: "Red" }] },
    "[OK] Question Which colour? → Red 1.2 s",
  ],
  [
    "a question of opencode",
    call("question", { questions: [{ question: "Which colour?", options: [{ label: "Red" }] }] }),
    "It is Red.",
    undefined,
    "[OK] Question Which colour? 1.2 s",
  ],
  [
    "a plan",
    call("ExitPlanMode", { plan: "# The plan\n\n1. Do" }),
    "ok",
    { type: "plan", plan: "# The plan\n\n1. Do", accepted: true },
    "[OK] Plan The plan accepted 1.2 s",
  ],
  [
    "a sub-agent",
    call("Task", { description: "Find callers", subagent_type: "Explore", prompt: "p" }),
    "found",
    { type: "sub_agent", tool_calls: 14, tokens: 2100 },
    "[OK] Task Find callers Explore",
  ],
  [
    "a script",
    call("exec", "// a comment\nconst r = await run();"),
    "ok",
    undefined,
    "[OK] Shell const r = await run(); 1.2 s",
  ],
  [
    "a tool that nobody knows",
    call("no_such_tool", { a: 1, b: "two" }),
    "x",
    undefined,
    "[OK] no_such_tool a: 1 b: two 1.2 s",
  ],
  [
    "arguments that are no JSON",
    call("no_such_tool", "{broken"),
    "x",
    undefined,
    "[OK] no_such_tool {broken 1.2 s",
  ],
];

describe("the closed line of", () => {
  it.each(closedLines)("%s shows what matters", (_name, of, output, extra, expected) => {
    show(of, output, extra);
    expect(line()).toBe(expected);
  });

  it("a command without further facts shows none in the open card", async () => {
    show(call("write_stdin", { session_id: 7, chars: "" }), "done");
    await openCard();
    expect(body()).toContain("session_id");
    expect(body()).not.toContain("command 7");
  });
});

describe("a call whose beginning has no time", () => {
  it.each([
    ["ended", { status: "aborted", input: {}, time: { start: 0, end: Date.UTC(2026, 10, 20) } }],
    ["runs", running({}, 0)],
  ] satisfies [string, Call["state"]][])("has no duration where it %s", (_how, state) => {
    show(call("Bash", { command: "ls" }, { state }));
    expect(document.querySelector(".line-time")?.textContent).toBe("");
  });
});

describe("a call of Verbatim's own that is not allowed yet", () => {
  it("shows the request, with the options in the open card", async () => {
    const input = { question: "Shall I go on?", options: [{ label: "Yes" }, { label: "No" }] };
    show(call("ask", input, { state: running(input) }));
    expect(line()).toMatch(/^\[RUNNING\] Question Shall I go on\?/);
    await openCard();
    expect(screen.getAllByRole("listitem").map((option) => option.textContent)).toEqual(["Yes", "No"]);
  });

  it.each([running({}), failed({}, "No such text.")])(
    "has the diff of an edit, counted until the edit is known to have failed",
    async (state) => {
      const input = { path: "one.txt", old_text: "one\ntwo\n", new_text: "one\n2\nthree\n" };
      show(call("edit", input, { state }));
      if (state.status === "running")
        expect(line()).toMatch(/^\[RUNNING\] Edit one\.txt .*\+22 lines added, −11 removed/);
      else {
        expect(line()).toMatch(/^\[FAILED\] Edit one\.txt /);
        expect(line()).not.toContain("added");
      }
      await openCard();
      expect(screen.getByRole("group", { name: "Changes of one.txt" })).toBeTruthy();
    },
  );

  it("has a label while its arguments are written", () => {
    show(call("edit", {}, { state: running({}) }));
    expect(line()).toMatch(/^\[RUNNING\] Edit /);
  });
});

describe("an open card", () => {
  it.each(closedLines)("has all input and output of %s", async (_name, of, output, extra) => {
    show(of, output, extra);
    await openCard();
    for (const closed of document.querySelectorAll(".tool-body details:not([open])"))
      (closed as HTMLDetailsElement).open = true;
    const shown = body().replace(/\s+/g, "");
    for (const words of stringsOf(of)) expect(shown).toContain(words.replace(/\s+/g, ""));
    for (const words of (output ?? "").split("\n")) expect(shown).toContain(words.replace(/\s+/g, ""));
  });

  it("shows a patch that a script could not apply as a diff", async () => {
    const script =
      'const patch = "*** Begin Patch\\n*** Update File: src/a.rs\\n@@\\n-say(\\"old\\");\\n+say(\\"new\\");\\n*** End Patch";\ntext(await tools.apply_patch(patch));';
    show(call("exec", script, { state: failed({}, "apply_patch verification failed") }));
    await openCard();
    const rows = [...document.querySelectorAll(".tool-body .diff-lines > span")];
    expect(rows.map((row) => row.textContent).join("\n")).toMatch(/say\("old"\);[\s\S]*say\("new"\);/);
  });

  it("chooses by payload before name", () => {
    show(call("Bash", { command: "x" }), "ok", { type: "plan", plan: "The plan of it" });
    expect(line()).toContain("Plan The plan of it");
  });

  it("loads the rest of a truncated output", async () => {
    const bash = call("Bash", { command: "seq" });
    const cut = result(bash, "1\n2\n3", { truncated: { output_text: 1_200_000 } });
    const whole = { ...cut, output_text: "1\n2\n3\nthe very end" };
    const parts = paired([bash, cut]);
    render(
      <TurnTranscript
        turn={turnOf(parts)}
        partAt={(index) => parts[index]}
        host={hostOf({ loadWhole: async () => whole })}
      />,
    );
    await openCard();
    await userEvent.click(screen.getByRole("button", { name: "Show all (1.2 MB)" }));
    expect(await screen.findByText(/the very end/)).toBeTruthy();
  });

  it("says that an output in a file is incomplete, and why the file cannot be opened", async () => {
    const bash = call("Bash", { command: "seq" });
    const head = "<persisted-output>\n";
    const output = `${head}${Array.from({ length: 60 }, (_, n) => `row ${n}`).join("\n")}\n...\n</persisted-output>`;
    const ui_extra: UiExtra = {
      type: "shell",
      persisted_path: "/s/tool-results/b.txt",
      persisted_bytes: 349_000,
      output_start: head.length,
      output_stop: output.indexOf("\n...\n"),
    };
    const open = () => Promise.reject(new Error("The file is gone."));
    const outputs = { opened: new Map(), open, close: () => {} };
    const { unmount } = show(bash, output, ui_extra, hostOf({ outputs }));
    await openCard();
    expect(body()).not.toContain("persisted-output");
    await userEvent.click(screen.getByRole("button", { name: "Show all 60 lines that the agent saw" }));
    expect(body()).toContain("row 30");
    await userEvent.click(screen.getByRole("button", { name: "Open whole output (349 KB)" }));
    expect((await screen.findByRole("alert")).textContent).toBe("Not opened: The file is gone.");
    unmount();
    // It cannot be opened without a daemon.
    show(bash, output, ui_extra);
    await openCard();
    expect(screen.queryByRole("button", { name: /Open whole/ })).toBeNull();
    expect(body()).toContain("/s/tool-results/b.txt (349 KB)");
  });

  it.each([
    ["a search", call("Grep", { pattern: "x" }), { type: "search", match_count: 9, files: [] }],
    ["a page", call("WebFetch", { url: "https://a.b/" }), { type: "web_fetch", url: "https://a.b/" }],
    ["an MCP tool", call("query", {}), { type: "mcp", server: "logs", tool: "query" }],
    ["a run", call("Task", { prompt: "look" }), { type: "sub_agent" }],
    ["a tool without a card", call("Skill", { skill: "x" }), { type: "output" }],
  ] satisfies [string, Call, UiExtra][])("opens the whole output of %s", async (_what, of, extra) => {
    const outputs = { opened: new Map(), open: () => new Promise<void>(() => {}), close: () => {} };
    const kept = { persisted_path: "/s/tool-results/g.txt", output_start: 6, output_stop: 10 };
    show(of, "<kept>a.ts</kept>", { ...extra, ...kept }, hostOf({ outputs }));
    await openCard();
    expect(body()).toContain("a.ts");
    expect(body()).not.toContain("kept>");
    expect(body()).toContain("whole output/s/tool-results/g.txt");
    expect(screen.getByRole("button", { name: "Open whole output" })).toBeTruthy();
  });

  it("loads the rest of truncated arguments, and says that they are truncated if it is lost", async () => {
    const ask = call("Ask", { what: "some" }, { truncated: { arguments_json: 1_200_000 } });
    const whole = { ...ask, arguments_json: '{"what":"some and more"}' };
    const turn = (host: TranscriptHost) => (
      <TurnTranscript turn={turnOf([ask])} partAt={() => ask} host={host} />
    );
    const { unmount } = render(turn(hostOf({ loadWhole: async () => whole })));
    await openCard();
    await userEvent.click(screen.getByRole("button", { name: "Load the rest (1.2 MB in all)" }));
    expect(await screen.findByText(/some and more/)).toBeTruthy();
    unmount();
    render(turn(hostOf()));
    await openCard();
    expect(screen.getByText("Truncated here, 1.2 MB in all.")).toBeTruthy();
  });

  it.each([
    ["a number with more digits than one of JavaScript has", '{"account": 12345678901234567890}'],
    ["a number that JavaScript cannot represent", '{"amount": 1e400}'],
    ["a duplicate member", '{"to": "alice", "to": "bob"}'],
    ["a string that reads like another value", '{"flag": "null", "to": "bob"}'],
    ["a string that ends in a space", '{"to": "bob "}'],
  ])("shows arguments as they were sent: %s", async (_of, json) => {
    show(call("transfer", json));
    await openCard();
    expect(document.querySelector(".card-facts")).toBeNull();
    expect(body().replace(/\s+/g, " ")).toContain(json.slice(1, -1));
    for (const digits of json.match(/\d+/g) ?? []) expect(line()).toContain(digits);
  });

  it("shows a few short arguments as a list, with any escapes", async () => {
    show(call("transfer", '{ "to": "Zo\\u00eb", "amount": 1.5, "now": true, "note": null }'));
    await openCard();
    expect(document.querySelector(".card-facts")?.textContent).toBe("toZoëamount1.5nowtruenotenull");
  });

  it("indents an output that is one line of JSON, and copies it as it was sent", async () => {
    const user = userEvent.setup();
    const json = '{"issue":{"id":"ENT-98","size":1.50},"labels":["bug"]}';
    const extra = { type: "mcp", server: "linear", tool: "get_issue" } as const;
    show(call("mcp__linear__get_issue", { id: "ENT-98", with: { labels: true } }), json, extra);
    await openCard();
    const [input, output] = [...document.querySelectorAll(".language-json")].map((code) => code.textContent);
    expect(input).toBe('{\n  "id": "ENT-98",\n  "with": {\n    "labels": true\n  }\n}');
    expect(output).toBe(
      '{\n  "issue": {\n    "id": "ENT-98",\n    "size": 1.50\n  },\n  "labels": [\n    "bug"\n  ]\n}',
    );
    await user.click(screen.getByRole("button", { name: "Copy output" }));
    expect(await navigator.clipboard.readText()).toBe(json);
  });

  it("shows the beginning of a long output of JSON, and the rest on demand", async () => {
    const items = Array.from({ length: 100 }, (_, index) => `item ${index};`);
    show(call("query", {}), `${JSON.stringify(items)}\n`);
    await openCard();
    expect(body()).toContain("item 0;");
    expect(body()).not.toContain("item 99;");
    await userEvent.click(screen.getByRole("button", { name: "Show all 102 lines" }));
    expect(body()).toContain("item 99;");
  });

  it.each([
    ["text in brackets", "[INFO] done"],
    ["JSON in several lines", '{\n"a":    1\n}'],
    ["several values", '{"a":1}\n{"a":2}'],
  ])("does not change an output that is %s", async (_of, output) => {
    show(call("query", {}), output);
    await openCard();
    expect(document.querySelector(".output-lines")?.textContent).toBe(output);
  });

  it("shows the first and last lines of a long output, and the rest on demand", async () => {
    show(
      call("Bash", { command: "seq 500" }),
      Array.from({ length: 500 }, (_, index) => `line ${index};`).join("\n"),
    );
    await openCard();
    expect(body()).toContain("line 0;");
    expect(body()).toContain("line 499;");
    expect(body()).not.toContain("line 250;");
    await userEvent.click(screen.getByRole("button", { name: "Show all 500 lines" }));
    expect(body()).toContain("line 250;");
  });

  it("keeps the page small whatever the output: a line of 1 MB, 20,000 lines, 400,000 changes of colour", async () => {
    const outputs = [
      "x".repeat(1_000_000),
      "line\n".repeat(20_000),
      "\u001b[31ma\u001b[32mb".repeat(200_000),
    ];
    for (const output of outputs) {
      const { unmount } = show(call("Bash", { command: "big" }), output);
      await openCard();
      for (
        let button = document.querySelector(".output .show-all");
        button;
        button = document.querySelector(".output .show-all")
      ) {
        const before = document.querySelectorAll("*").length;
        fireEvent.click(button);
        if (
          document.querySelectorAll("*").length > 20_000 ||
          document.querySelectorAll("*").length === before
        )
          break;
      }
      expect(document.querySelectorAll("*").length).toBeLessThan(20_000);
      unmount();
    }
  });

  it("compares fewer changed lines in each of several edits, because all of them share one time limit", () => {
    const added = (edits: number, changed: number) => {
      const lines = (sign: string) =>
        Array.from({ length: changed / 2 }, (_, index) => `${sign}${index}\n`).join("");
      const edit = { old_string: `${lines("a")}same`, new_string: `${lines("b")}same` };
      const { unmount } = show(
        call("MultiEdit", { file_path: "a.ts", edits: Array.from({ length: edits }, () => edit) }),
        "",
      );
      const count = document.querySelector(".diff-added [aria-hidden]")?.textContent;
      unmount();
      return count;
    };
    // A comparison also has a time limit, which a busy machine could reach.
    const now = vi.spyOn(Date, "now").mockReturnValue(0);
    expect(added(1, 600)).toBe("+300");
    expect(added(16, 400)).toBe("+3200");
    // All lines removed and added, including the equal one.
    expect(added(16, 600)).toBe("+4816");
    now.mockRestore();
  });

  it("says when there was no output", async () => {
    show(call("Bash", { command: "true" }), "");
    await openCard();
    expect(screen.getByText("No output.")).toBeTruthy();
  });
});

const CODEX_HEAD =
  "Chunk ID: 3f2a\nWall time: 0.1 seconds\nProcess exited with code 1\nOriginal token count: 42\nOutput:\n";
const failures: [string, string, number | undefined, string][] = [
  ["the only line", "boom", undefined, "boom"],
  ["what stands behind the agent's own header", `${CODEX_HEAD}it broke`, CODEX_HEAD.length, "it broke"],
  ["no header even where nobody says how long it is", `${CODEX_HEAD}it broke`, undefined, "it broke"],
  [
    "the last line that names a failure",
    "src/a.ts: error TS1\nsrc/b.ts: error TS2\n\nFound 2 errors in 2 files.\n\nsee the manual",
    undefined,
    "Found 2 errors in 2 files.",
  ],
  [
    "a summary without the rules around it",
    "collected 5 items\n\n=====================\n==== 2 failed, 3 passed in 0.12s ====\n=====================",
    undefined,
    "2 failed, 3 passed in 0.12s",
  ],
  ["the first line that says anything", "======\n---\nall is lost\nso it is", undefined, "all is lost"],
  ["no success", "suite a failed to start\n0 errors, no failures in b", undefined, "suite a failed to start"],
  [
    "not the one word that go test ends with",
    "--- FAIL: TestTide (0.00s)\n    tide_test.go:10: got 1, want 2\nFAIL\nFAIL\texample.com/tide\t0.003s\nFAIL",
    undefined,
    "FAIL example.com/tide 0.003s",
  ],
  [
    "not where npm keeps its log",
    'npm error Missing script: "x"\nnpm error A complete log of this run can be found in: /l',
    undefined,
    'npm error Missing script: "x"',
  ],
];

describe("the reason on the closed line of a failed call", () => {
  it.each(failures)("is %s", (_name, output, output_start, reason) => {
    const input = { command: "x" };
    show(call("Bash", input, { state: failed(input, output) }), output, {
      type: "shell",
      exit_code: 1,
      ...(output_start === undefined ? {} : { output_start }),
    });
    expect(document.querySelector(".line-failure")?.textContent).toBe(reason);
  });

  it("comes from the end of a truncated output, never from its loaded part", () => {
    const input = { command: "npm test" };
    const bash = call("Bash", input, { state: failed(input, "") });
    const cut = { truncated: { output_text: 90_000 } };
    const head = "stderr | caught as it should be: error E1\nall fine";
    const reasonWith = (given: { output_end?: string }): string | undefined => {
      const parts = paired([bash, result(bash, head, { ...cut, ...given })]);
      const { unmount } = render(
        <TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={hostOf()} />,
      );
      const reason = document.querySelector(".line-failure")?.textContent ?? undefined;
      unmount();
      return reason;
    };
    expect(reasonWith({ output_end: "ok 200\nTests  3 failed | 200 passed\nDuration  9 s" })).toBe(
      "Tests 3 failed | 200 passed",
    );
    expect(reasonWith({ output_end: "ok 200\nok 201" })).toBeUndefined();
    expect(reasonWith({})).toBeUndefined();
  });

  it("costs about the same for any output", () => {
    const cpuOf = (inner: string): number => {
      const calls = Array.from({ length: 10 }, (_, index) => {
        const output = `x${inner}x`;
        const bash = call(`tool ${index}`, {}, { state: failed({}, output) });
        return [bash, result(bash, output, { is_error: true, status: "error" })];
      });
      const parts = paired(calls.flat());
      const before = process.cpuUsage();
      const { unmount } = render(
        <TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={hostOf()} />,
      );
      const { user } = process.cpuUsage(before);
      unmount();
      return user;
    };
    cpuOf("ab".repeat(3_950));
    expect(cpuOf("=".repeat(7_900))).toBeLessThan(5 * cpuOf("ab".repeat(3_950)));
  });

  it("is absent if the output has no word", () => {
    const output = "Exit code 1\n======\n\n";
    show(call("Bash", { command: "x" }, { state: failed({ command: "x" }, output) }), output);
    expect(document.querySelector(".line-failure")).toBeNull();
  });
});

describe("the name of a tool in lists of calls", () => {
  const shell: UiExtra = { type: "shell", exit_code: 0 };
  const edit: UiExtra = {
    type: "diff",
    files: [{ path: "/w/a.ts", change: "update", additions: 1, deletions: 1, hunks: [] }],
  };
  const read: UiExtra = { type: "read", path: "/w/a.ts" };
  it.each<[string, UiExtra]>([
    ...["Bash", "run_commands", "Execute", "run_terminal_cmd", "run_shell_command", "exec_command"].map(
      (name): [string, UiExtra] => [name, shell],
    ),
    ...["read_file", "read_files", "Read"].map((name): [string, UiExtra] => [name, read]),
    ...["replace", "edit_file", "apply_patch", "Edit"].map((name): [string, UiExtra] => [name, edit]),
    ["web_search", { type: "web_search", query: "q", results: [] }],
    ["TodoWrite", { type: "todos", todos: [] }],
    ["update_plan", { type: "todos", todos: [] }],
  ])("%s is that of its closed line", (name, extra) => {
    show(call(name, {}), "x", extra);
    expect(toolLabel(name)).toBe(document.querySelector(".line-label")?.textContent);
  });
});

describe("a path", () => {
  it("is shown relative to the agent's folder", () => {
    show(
      call("Read", { file_path: "/home/me/project/src/a.ts" }),
      "x",
      undefined,
      hostOf({ cwd: "/home/me/project" }),
    );
    expect(line()).toContain("Read src/a.ts");
  });

  it("of Windows is shown relative to the agent's folder", () => {
    show(
      call("Read", { file_path: "C:\\me\\project\\src\\a.ts" }),
      "x",
      undefined,
      hostOf({ cwd: "C:\\me\\project" }),
    );
    expect(line()).toContain("Read src\\a.ts");
  });

  it.each(["/home/me/project", "/home/me/project/"])("that is this folder itself is shown: %s", (path) => {
    show(call("Grep", { pattern: "tide", path }), "a.ts:1", undefined, hostOf({ cwd: "/home/me/project" }));
    expect(line()).toContain(`Grep tide in ${path} `);
  });
});

describe("a sub-agent's card", () => {
  const run: SessionSummary = {
    id: idOf("run"),
    agent: "claude-code",
    status: "running",
    activity: "Grep readTail",
    last_activity_at: 0,
    turns: 1,
    steps: 3,
    tool_calls: 14,
    errors: 0,
    parts: 40,
    runs: 0,
    byte_size: 1,
  };

  it("shows its figures once, the run's own before those of its result", () => {
    const task = call(
      "Task",
      { description: "Find callers", subagent_type: "Explore" },
      { run: { session_id: run.id } },
    );
    const extra: UiExtra = { type: "sub_agent", tool_calls: 13, tokens: 2100 };
    const { unmount } = show(task, "found", extra, hostOf({ useRun: () => run }));
    expect(document.querySelector(".tool")?.textContent).toContain("14 calls · 2.1k tokens");
    expect(document.querySelector(".tool")?.textContent?.match(/calls/g)).toHaveLength(1);
    unmount();
    show(task, "found", extra, hostOf());
    expect(document.querySelector(".tool")?.textContent).toContain("13 calls · 2.1k tokens");
  });

  it("says that a run was stopped, which is neither success nor failure", async () => {
    const task = call("Task", { description: "Find callers" }, { run: { session_id: run.id } });
    show(task, "", undefined, hostOf({ useRun: () => ({ ...run, status: "interrupted" }) }));
    await openCard();
    expect(body()).toContain("statestopped");
  });

  it.each([
    ["text", "writing"],
    ["thinking", "thinking"],
    ["Bash npm test", "Bash npm test"],
  ])("shows the activity of a run (%s): %s", (activity, word) => {
    const task = call("Task", { description: "Find" }, { state: running({}), run: { session_id: run.id } });
    show(task, undefined, undefined, hostOf({ useRun: () => ({ ...run, activity }) }));
    expect(document.querySelector(".run-activity")?.textContent).toBe(word);
  });

  it("says that a nested run waits for a person, and links to it", () => {
    const task = call("task", { task: "Find" }, { state: running({}), run: { session_id: run.id } });
    const below = { title: "Which width?", href: "/sessions/below#part-1" };
    show(task, undefined, undefined, hostOf({ useRun: () => run, useWaitBelow: () => below }));
    const link = screen.getByRole("link", { name: "sub-agent waiting for you" });
    expect(link.getAttribute("href")).toBe(below.href);
    expect(document.querySelector(".line-label")?.textContent).toBe("Task");
  });

  it("does not link to a run whose id is not a session's", () => {
    const extra: UiExtra = { type: "sub_agent", session_id: "../../launch?token=x", tool_calls: 3 };
    show(call("task", { task: "Find" }), "found", extra);
    expect(screen.getByText("3 calls")).toBeTruthy();
    expect(screen.queryByRole("link", { name: /^Open run/ })).toBeNull();
  });

  it("names the run, shows its current activity, and links to it", async () => {
    const task = call(
      "Task",
      { description: "Find callers", prompt: "Find **all** callers" },
      {
        state: running({}),
        run: { session_id: run.id, name: "Explore", task: "Find callers" },
      },
    );
    show(task, undefined, undefined, hostOf({ useRun: () => run }));
    expect(screen.getByRole("link", { name: "Open run Find callers Explore" }).getAttribute("href")).toBe(
      `/sessions/${run.id}`,
    );
    expect(screen.getByText("Grep readTail")).toBeTruthy();
    expect(screen.getByText("14 calls")).toBeTruthy();
    await openCard();
    expect(body()).toContain("3, 14 tool calls");
    expect(body()).toContain("Find all callers");
  });
});

/** Every string in the arguments of a call. */
function stringsOf(of: Call): string[] {
  try {
    const found: string[] = [];
    JSON.parse(of.arguments_json, (_key, value: unknown) => {
      if (typeof value === "string") found.push(...JSON.stringify(value).slice(1, -1).split("\\n"));
      return value;
    });
    return found;
  } catch {
    return of.arguments_json.split("\n");
  }
}
