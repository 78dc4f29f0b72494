import { describe, expect, it } from "vitest";
import { account, call, event, output, THREAD } from "./codex-support.ts";

// Outputs of calls in each shape that Codex has written, and the payloads for their cards.

const results = (...lines: (object | string)[]) =>
  account(...lines).parts.filter((part) => part.type === "tool_result");

/** The reader's result for an output of an unknown tool. */
function read(value: unknown) {
  const [result] = results(call("x", {}), output(value));
  if (result === undefined) throw new Error("No result");
  return { status: result.status, text: result.output_text, parts: result.parts };
}
/** The fields of a shell's card after this output, other than the command. */
const shell = (value: unknown, input: unknown = { cmd: "ls" }, name = "exec_command") => {
  const [result] = results(call(name, input), output(value));
  return { status: result?.status, ...result?.ui_extra };
};
const extra = (name: string, input: unknown, value: unknown = "ok") =>
  results(call(name, input), output(value))[0]?.ui_extra;
/** The files of the card of a patch with this text. */
const filesOf = (patch: string) => extra("apply_patch", patch, "Done");
/** The files of the card of a patch whose changes are in an event. */
const changed = (changes: unknown) =>
  results(event("patch_apply_end", { call_id: "p", success: true, changes }))[0]?.ui_extra;

describe("the shapes of an output", () => {
  it("keeps a text unchanged, treats an empty or missing one as no text, and a number as its digits", () => {
    expect(read("two\nlines\n")).toEqual({
      status: "success",
      text: "two\nlines\n",
      parts: [],
    });
    expect(read("")).toEqual({
      status: "success",
      text: "",
      parts: [],
    });
    expect(read(null)).toEqual({
      status: "success",
      text: "",
      parts: [],
    });
    expect(read(undefined)).toEqual({
      status: "success",
      text: "",
      parts: [],
    });
    expect(read(7)).toEqual({
      status: "success",
      text: "7",
      parts: [],
    });
  });

  it("joins a list with line breaks, without doubling them or adding empty texts", () => {
    expect(read(["a", { type: "input_text", text: "b\n" }, { text: "c" }, { text: "" }, 5])).toEqual({
      status: "success",
      text: "a\nb\nc",
      parts: [],
    });
    expect(read([{ text: "" }, "x"])).toEqual({
      status: "success",
      text: "x",
      parts: [],
    });
  });

  it("shows images of a list by address or data, and keeps other entries", () => {
    expect(
      read([
        { type: "input_image", image_url: "data:image/png;base64,AA" },
        { type: "input_image", image_url: { url: "https://a.test/b.png" } },
        { type: "image", data: "QUE=", mimeType: "image/webp" },
        { type: "image", data: "QUI=", mime_type: "image/gif" },
        { type: "image", data: "QUM=" },
        { type: "audio", data: "QUQ=" },
        { type: "image" },
        { type: "input_image", image_url: null },
        { type: "smell" },
        { type: "input_text", text: "and words" },
      ]),
    ).toEqual({
      status: "success",
      text: "and words",
      parts: [
        {
          type: "image_url",
          url: "data:image/png;base64,AA",
        },
        {
          type: "image_url",
          url: "https://a.test/b.png",
        },
        {
          type: "image_url",
          url: "data:image/webp;base64,QUE=",
        },
        {
          type: "image_url",
          url: "data:image/gif;base64,QUI=",
        },
        {
          type: "image_url",
          url: "data:image/png;base64,QUM=",
        },
        {
          type: "unknown",
          raw: {
            type: "audio",
            data: "QUQ=",
          },
        },
        {
          type: "unknown",
          raw: {
            type: "image",
          },
        },
        {
          type: "unknown",
          raw: {
            type: "smell",
          },
        },
      ],
    });
  });

  it("shows the output field of an object that has only that or metadata", () => {
    expect(read({ output: "alone" })).toEqual({
      status: "success",
      text: "alone",
      parts: [],
    });
    expect(read({ output: "with", metadata: {} })).toEqual({
      status: "success",
      text: "with",
      parts: [],
    });
    expect(read({ output: "beside", other: 1 })).toEqual({
      status: "success",
      text: '{"output":"beside","other":1}',
      parts: [],
    });
    expect(read({ output: 5, metadata: {} })).toEqual({
      status: "success",
      text: '{"output":5,"metadata":{}}',
      parts: [],
    });
  });

  it("reads exit code and duration from an object's metadata", () => {
    const metadata = { exit_code: 3, duration_seconds: 1.2345 };
    expect(shell({ output: "no", metadata })).toEqual({
      status: "error",
      type: "shell",
      command: "ls",
      exit_code: 3,
      duration_ms: 1235,
    });
    expect(shell({ output: "yes", metadata: { exit_code: 0 } })).toEqual({
      status: "success",
      type: "shell",
      command: "ls",
      exit_code: 0,
    });
    // A command's output does not matter once its exit code is known.
    expect(shell({ output: "error: 3 hits", metadata: { exit_code: 0 } })).toEqual({
      status: "success",
      type: "shell",
      command: "ls",
      exit_code: 0,
    });
    expect(shell({ output: "Aborted (core dumped)", metadata: { exit_code: 134 } })).toEqual({
      status: "error",
      type: "shell",
      command: "ls",
      exit_code: 134,
    });
    expect(shell({ output: "aborted by user", metadata: {} })).toEqual({
      status: "aborted",
      type: "shell",
      command: "ls",
      interrupted: true,
    });
    expect(shell({ output: "plain", metadata: { duration_seconds: "1" } })).toEqual({
      status: "success",
      type: "shell",
      command: "ls",
    });
  });

  it("parses such an object in a text, but not similar text", () => {
    expect(shell('{"output":"x","metadata":{"exit_code":2,"duration_seconds":0.5}}')).toEqual({
      status: "error",
      type: "shell",
      command: "ls",
      exit_code: 2,
      duration_ms: 500,
    });
    expect(read('{"output":"x","metadata":{"exit_code":2}')).toEqual({
      status: "success",
      text: '{"output":"x","metadata":{"exit_code":2}',
      parts: [],
    });
    expect(read('{"output":"x","n":1}')).toEqual({
      status: "success",
      text: '{"output":"x","n":1}',
      parts: [],
    });
    expect(read('{"output":4,"metadata":{}}')).toEqual({
      status: "success",
      text: '{"output":4,"metadata":{}}',
      parts: [],
    });
    expect(read(' {"output":"x","metadata":{}}')).toEqual({
      status: "success",
      text: ' {"output":"x","metadata":{}}',
      parts: [],
    });
    expect(read('{"out":"x","metadata":{}}')).toEqual({
      status: "success",
      text: '{"out":"x","metadata":{}}',
      parts: [],
    });
  });

  it("shows the content field of an object, and its failure", () => {
    expect(read({ content: "fine", success: true })).toEqual({
      status: "success",
      text: "fine",
      parts: [],
    });
    expect(read({ content: "bad", success: false })).toEqual({
      status: "error",
      text: "bad",
      parts: [],
    });
    expect(read({ content: "aborted by user", success: false })).toEqual({
      status: "aborted",
      text: "aborted by user",
      parts: [],
    });
    expect(read({ content: [{ text: "a" }, { text: "b" }], content_items: null })).toEqual({
      status: "success",
      text: "a\nb",
      parts: [],
    });
    expect(read({ content: "not said whether" })).toEqual({
      status: "success",
      text: '{"content":"not said whether"}',
      parts: [],
    });
    expect(read({ success: true })).toEqual({
      status: "success",
      text: '{"success":true}',
      parts: [],
    });
  });

  it("reads an object that is a list entry as a list, and shows others as JSON", () => {
    expect(read({ type: "input_text", text: "one" })).toEqual({
      status: "success",
      text: "one",
      parts: [],
    });
    expect(read({ type: "input_image", image_url: "https://a.test/c.png" })).toEqual({
      status: "success",
      text: "",
      parts: [
        {
          type: "image_url",
          url: "https://a.test/c.png",
        },
      ],
    });
    expect(read({ anything: [1] })).toEqual({
      status: "success",
      text: '{"anything":[1]}',
      parts: [],
    });
  });
});

describe("the header of an output", () => {
  it.each([
    ["aborted", "aborted"],
    ["aborted by user after 3 s", "aborted"],
    ["Aborted.", "aborted"],
    ["Wall time: 1.9 seconds\naborted by user", "aborted"],
    ["Wall time 10 seconds\naborted", "aborted"],
    ["exec command rejected by user", "aborted"],
    ["patch rejected by user", "aborted"],
    ["command rejected by user", "aborted"],
    ["tool call rejected by user", "aborted"],
    ["tool call   Rejected by user", "aborted"],
    ["rejected by user", "aborted"],
    ["abortedly", "success"],
    ["was aborted by user", "success"],
    ["it was rejected by user", "success"],
    ["unsupported call: x", "error"],
    ["unsupported custom tool call: x", "error"],
    ["failed to parse function arguments: x", "error"],
    ["execution error: x", "error"],
    ["apply_patch verification failed: x", "error"],
    ["write_stdin failed: x", "error"],
    ["exec_command failed: x", "error"],
    ["exec failed: x", "error"],
    ["tool call error: x", "error"],
    ["tool call failed: x", "error"],
    ["unable to locate image: x", "error"],
    ["failed in sandbox: x", "error"],
    ["command timed out", "error"],
    ["Script failed", "error"],
    ["Script terminated", "error"],
    ["Script error:", "error"],
    ["collab spawn failed", "error"],
    ["agent with id x not found", "error"],
    ["agent x failed", "error"],
    ["ERROR: x", "error"],
    ["error without a colon", "success"],
    ["agent x\nfailed", "success"],
    ["an error: x", "success"],
    ["Script completed", "success"],
  ])("%s: %s", (text, status) => {
    expect(read(text).status).toBe(status);
  });

  it("is recognized only at the beginning", () => {
    const header = `Wall time: ${"1".repeat(600)} seconds\naborted`;
    expect(read(header).status).toBe("success");
    expect(read(`Wall time: ${"1".repeat(400)} seconds\naborted`).status).toBe("aborted");
  });

  it("contains exit code, duration and the start of the output", () => {
    const text =
      "Chunk ID: a1\nWall time: 0.0512 seconds\nProcess exited with code 0\nOriginal token count: 5\nOutput:\nhi\n";
    expect(shell(text)).toEqual({
      status: "success",
      type: "shell",
      command: "ls",
      exit_code: 0,
      duration_ms: 51,
      output_start: 98,
    });
    expect(shell("Exit code: 2\nWall time: 3 seconds\nTotal output lines: 9\nOutput:\nno\n")).toEqual({
      status: "error",
      type: "shell",
      command: "ls",
      exit_code: 2,
      duration_ms: 3000,
      output_start: 64,
    });
    expect(shell("Exit code: -1\nWall time: 12.5 seconds\nOutput:\n")).toEqual({
      status: "error",
      type: "shell",
      command: "ls",
      exit_code: -1,
      duration_ms: 12500,
      output_start: 46,
    });
    expect(shell("Exit code: 0\nOutput:\nerror: not Codex's own")).toEqual({
      status: "success",
      type: "shell",
      command: "ls",
      exit_code: 0,
      output_start: 21,
    });
  });

  it("names the ids of a process and a script that keep running", () => {
    expect(shell("Wall time: 10 seconds\nProcess running with session ID 77\nOutput:\npart")).toEqual({
      status: "success",
      type: "shell",
      command: "ls",
      duration_ms: 10000,
      background_task_id: "77",
      output_start: 65,
    });
    expect(extra("exec", "code", "Script running with cell ID 4\nWall time 1.5 seconds\nOutput:\n")).toEqual({
      type: "output",
      output_start: 60,
    });
  });

  it.each([
    ["without `Output:`", "Exit code: 3\nno mark"],
    ["with a line of another kind", "Exit code: 3\nSurprise: 1\nOutput:\nx"],
    ["that does not begin the text", "said:\nExit code: 3\nOutput:\nx"],
    ["that is too long", `Exit code: 3\nChunk ID: ${"x".repeat(500)}\nOutput:\nx`],
    ["whose code is not a number", "Exit code: many\nOutput:\nx"],
    ["whose code is not all of its line", "Exit code: 3 or so\nOutput:\nx"],
    ["whose code is in the middle of a line", "Chunk ID Exit code: 3\nOutput:\nx"],
  ])("a header %s has no exit code", (_, text) => {
    expect(shell(text)).not.toHaveProperty("exit_code");
    expect(shell(text).status).toBe("success");
  });

  it.each(["Script completed", "Script failed", "Script terminated", "Script running"])(
    "%s is a script's header",
    (line) => {
      expect(shell(`${line}\nWall time 2 seconds\nOutput:\nx`)).toMatchObject({
        duration_ms: 2000,
        output_start: line.length + "\nWall time 2 seconds\nOutput:\n".length,
      });
    },
  );
});

describe("the shell card", () => {
  it.each(["exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec"])(
    "shows command and folder of %s",
    (name) => {
      expect(extra(name, { command: "make", workdir: "/w" })).toEqual({
        type: "shell",
        command: "make",
        cwd: "/w",
      });
    },
  );

  it("does not show input to a running process as a command", () => {
    expect(extra("write_stdin", { cmd: "y\n", session_id: 4 })).toEqual({
      type: "shell",
    });
  });

  it.each([
    [{ cmd: "a", command: "b" }, "a"],
    [{ command: ["bash", "-lc", "ls | wc"] }, "ls | wc"],
    [{ command: ["zsh", "-c", "ls"] }, "ls"],
    [{ command: ["bash", "-ic", "ls"] }, "ls"],
    [{ command: ["bash", "-lic", "ls"] }, "ls"],
    [{ command: ["git", "log", "-1"] }, "git log -1"],
    [{ command: ["bash", "-lc", "ls", "x"] }, "bash -lc ls x"],
    [{ command: ["a", "-xc", "b"] }, "a -xc b"],
    [{ command: ["a", "x-c", "b"] }, "a x-c b"],
    [{ command: ["a", "-cx", "b"] }, "a -cx b"],
    [{ command: ["only"] }, "only"],
    [{ command: 5 }, undefined],
    [{}, undefined],
  ])("unwraps %j to %s", (input, command) => {
    expect(extra("shell", input)).toEqual({ type: "shell", ...(command === undefined ? {} : { command }) });
  });

  it("reads the folder from either field", () => {
    expect(extra("shell", { command: "a", working_directory: "/b" })).toEqual({
      type: "shell",
      command: "a",
      cwd: "/b",
    });
  });

  it("shows a patch in a here-document as a diff, unless it failed or is empty", () => {
    const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF";
    expect(extra("shell", { command: patch })).toEqual({
      type: "diff",
      files: [
        {
          path: "a",
          change: "delete",
          additions: 0,
          deletions: 0,
          hunks: [],
        },
      ],
    });
    expect(extra("shell", { command: patch }, "error: x")).toMatchObject({ type: "shell" });
    expect(extra("shell", { command: "echo '*** Begin Patch'" })).toMatchObject({ type: "shell" });
  });

  it("marks an interrupted command", () => {
    expect(extra("shell", { command: "a" }, "aborted by user")).toEqual({
      type: "shell",
      command: "a",
      interrupted: true,
    });
  });
});

describe("other cards", () => {
  it("show a plan's steps, and nothing for a failed or empty plan", () => {
    const plan = [
      { step: "A", status: "completed" },
      { step: "B", status: "in_progress" },
      { step: "C", status: "pending" },
      { step: "D", status: "strange" },
      { status: "completed" },
      "E",
    ];
    expect(extra("update_plan", { plan })).toEqual({
      type: "todos",
      todos: [
        {
          text: "A",
          status: "completed",
        },
        {
          text: "B",
          status: "in_progress",
        },
        {
          text: "C",
          status: "pending",
        },
        {
          text: "D",
          status: "pending",
        },
      ],
    });
    expect(extra("update_plan", { plan }, "error: x")).toBeUndefined();
    expect(extra("update_plan", { plan: [] })).toBeUndefined();
  });

  it("set the session's to-dos once, even if the output is repeated", () => {
    const { records } = account(
      call("update_plan", { plan: [{ step: "A", status: "pending" }] }),
      output("ok"),
      output("ok again"),
    );
    const todos = records.flatMap(({ frames }) => frames.filter(({ type }) => type === "todo.change"));
    expect(todos).toEqual([
      { type: "todo.change", session_id: THREAD, at: 0, todos: [{ text: "A", status: "pending" }] },
    ]);
  });

  it("show questions with options and answers", () => {
    const questions = [
      { id: "one", question: "Which?", options: [{ label: "A" }, "B", { no: 1 }] },
      { id: "two", question: "How?", options: [] },
      { id: "three", question: "Why?" },
      { id: "four" },
      "five",
    ];
    const answers = { one: "A", two: { answers: ["x", "y", 1] }, three: ["z"] };
    expect(extra("request_user_input", { questions }, JSON.stringify({ answers }))).toEqual({
      type: "question",
      questions: [
        {
          question: "Which?",
          options: ["A", "B"],
          answer: "A",
        },
        {
          question: "How?",
          options: [],
          answer: "x, y",
        },
        {
          question: "Why?",
          options: [],
          answer: "z",
        },
      ],
    });
    expect(extra("request_user_input", { questions: [questions[0]] }, "no JSON")).toEqual({
      type: "question",
      questions: [
        {
          question: "Which?",
          options: ["A", "B"],
        },
      ],
    });
    expect(extra("request_user_input", { questions: [] }, "{}")).toBeUndefined();
  });

  it("show the file of a viewed image", () => {
    expect(extra("view_image", { path: "/a.png" })).toEqual({ type: "read", path: "/a.png" });
    expect(extra("view_image", { file: "/a.png" })).toBeUndefined();
  });

  it("split server and tool in a name", () => {
    expect(extra("mcp__files__read__all", {})).toEqual({ type: "mcp", server: "files", tool: "read__all" });
    expect(extra("mcp__files__", {})).toBeUndefined();
    expect(extra("my_mcp__a__b", {})).toBeUndefined();
    expect(extra("something", { path: "x", plan: [{ step: "A" }] })).toBeUndefined();
  });

  it.each(["spawn_agent", "send_input", "send_message", "followup_task", "assign_task", "resume_agent"])(
    "show agent and task of %s",
    (name) => {
      expect(extra(name, { target: "t", message: "go" }, "")).toEqual({
        type: "sub_agent",
        agent_key: "t",
        name: "t",
        task: "go",
      });
    },
  );

  it("read an agent's name and task from the fields of all versions", () => {
    expect(extra("spawn_agent", { task_name: "count", prompt: "p", id: "i" }, "")).toEqual({
      type: "sub_agent",
      agent_key: "i",
      name: "count",
      task: "p",
    });
    expect(extra("spawn_agent", { agent_type: "explorer" }, "")).toEqual({
      type: "sub_agent",
      name: "explorer",
    });
    expect(extra("spawn_agent", "no JSON", "")).toEqual({
      type: "sub_agent",
    });
  });

  it("read arguments that are not JSON as text", () => {
    expect(extra("view_image", '{"path":"/a.png"')).toBeUndefined();
    expect(extra("apply_patch", ' "*** Begin Patch\\n*** Delete File: a\\n*** End Patch"', "Done")).toEqual({
      type: "diff",
      files: [
        {
          path: "a",
          change: "delete",
          additions: 0,
          deletions: 0,
          hunks: [],
        },
      ],
    });
    expect(
      extra("apply_patch", { input: "*** Begin Patch\n*** Delete File: b\n*** End Patch" }, "Done"),
    ).toEqual({
      type: "diff",
      files: [
        {
          path: "b",
          change: "delete",
          additions: 0,
          deletions: 0,
          hunks: [],
        },
      ],
    });
  });
});

describe("patches", () => {
  it("add, change, move and delete files", () => {
    expect(
      filesOf(
        [
          "said before",
          "+no file's",
          "*** Begin Patch",
          "+nor this",
          "*** Add File:  new.txt ",
          "+one",
          "+",
          "*** Update File: a b.ts",
          "*** Move to:  c.ts ",
          "@@ function x",
          " same",
          "-gone",
          "+here",
          "",
          "@@",
          "+second",
          "\\ No newline at end of file",
          "*** Update File: d.ts",
          "",
          " first",
          "*** Delete File: e.ts",
          "*** End Patch",
          "+behind it",
          "*** Add File: f.ts",
        ].join("\n"),
      ),
    ).toEqual({
      type: "diff",
      files: [
        {
          path: "new.txt",
          change: "create",
          additions: 2,
          deletions: 0,
          hunks: [
            {
              old_start: 0,
              old_lines: 0,
              new_start: 0,
              new_lines: 2,
              lines: ["+one", "+"],
            },
          ],
        },
        {
          path: "a b.ts",
          change: "move",
          additions: 2,
          deletions: 1,
          hunks: [
            {
              old_start: 0,
              old_lines: 3,
              new_start: 0,
              new_lines: 3,
              lines: [" same", "-gone", "+here", " "],
            },
            {
              old_start: 0,
              old_lines: 0,
              new_start: 0,
              new_lines: 1,
              lines: ["+second"],
            },
          ],
          new_path: "c.ts",
        },
        {
          path: "d.ts",
          change: "update",
          additions: 0,
          deletions: 0,
          hunks: [
            {
              old_start: 0,
              old_lines: 1,
              new_start: 0,
              new_lines: 1,
              lines: [" first"],
            },
          ],
        },
        {
          path: "e.ts",
          change: "delete",
          additions: 0,
          deletions: 0,
          hunks: [],
        },
      ],
    });
  });

  it("change nothing if they failed or contain no patch", () => {
    expect(filesOf("no patch")).toBeUndefined();
    expect(
      extra("apply_patch", "*** Begin Patch\n*** Delete File: a\n*** End Patch", "error: x"),
    ).toBeUndefined();
    expect(filesOf("*** Begin Patch\nx *** Add File: a\n+b\n*** Add File: ")).toBeUndefined();
  });

  it("from an event have the lines and numbers of its unified diff", () => {
    expect(
      changed({
        "/a.ts": {
          type: "update",
          unified_diff:
            "before any\n@@ -3,2 +4,3 @@ fn\n same\n-gone\n+here\n+more\n\\ No newline\n@@ -9 +11 @@\n-x\n+y\n",
        },
        "/b.ts": { type: "update", unified_diff: "@@ -1 +1 @@\n-x\n+y", move_path: "/c.ts" },
        "/d.ts": { type: "update", unified_diff: "x @@ -1 +1 @@\n-x\n+y" },
        "/e.ts": { type: "update", unified_diff: "@@ -12,30 +45,60 @@\n+y" },
      }),
    ).toEqual({
      type: "diff",
      files: [
        {
          path: "/a.ts",
          change: "update",
          additions: 3,
          deletions: 2,
          hunks: [
            {
              old_start: 3,
              old_lines: 2,
              new_start: 4,
              new_lines: 3,
              lines: [" same", "-gone", "+here", "+more"],
            },
            {
              old_start: 9,
              old_lines: 1,
              new_start: 11,
              new_lines: 1,
              lines: ["-x", "+y"],
            },
          ],
        },
        {
          path: "/b.ts",
          change: "move",
          new_path: "/c.ts",
          additions: 1,
          deletions: 1,
          hunks: [
            {
              old_start: 1,
              old_lines: 1,
              new_start: 1,
              new_lines: 1,
              lines: ["-x", "+y"],
            },
          ],
        },
        {
          path: "/d.ts",
          change: "update",
          additions: 0,
          deletions: 0,
          hunks: [],
        },
        {
          path: "/e.ts",
          change: "update",
          additions: 1,
          deletions: 0,
          hunks: [
            {
              old_start: 12,
              old_lines: 0,
              new_start: 45,
              new_lines: 1,
              lines: ["+y"],
            },
          ],
        },
      ],
    });
  });

  it("from an event show new and deleted files completely", () => {
    expect(
      changed({
        "/new": { type: "add", content: "a\n\nb\n" },
        "/unended": { type: "add", content: "a" },
        "/empty": { type: "add", content: "" },
        "/gone": { type: "delete", content: "x\ny\n" },
        "/unknown": { type: "delete" },
        "/strange": 5,
      }),
    ).toEqual({
      type: "diff",
      files: [
        {
          path: "/new",
          change: "create",
          additions: 3,
          deletions: 0,
          hunks: [
            {
              old_start: 0,
              new_start: 1,
              old_lines: 0,
              new_lines: 3,
              lines: ["+a", "+", "+b"],
            },
          ],
        },
        {
          path: "/unended",
          change: "create",
          additions: 1,
          deletions: 0,
          hunks: [
            {
              old_start: 0,
              new_start: 1,
              old_lines: 0,
              new_lines: 1,
              lines: ["+a"],
            },
          ],
        },
        {
          path: "/empty",
          change: "create",
          additions: 0,
          deletions: 0,
          hunks: [],
        },
        {
          path: "/gone",
          change: "delete",
          additions: 0,
          deletions: 2,
          hunks: [
            {
              old_start: 1,
              new_start: 0,
              old_lines: 2,
              new_lines: 0,
              lines: ["-x", "-y"],
            },
          ],
        },
        {
          path: "/unknown",
          change: "delete",
          additions: 0,
          deletions: 0,
          hunks: [],
        },
      ],
    });
  });

  it("of an unknown shape are shown without files", () => {
    expect(changed([1])).toBeUndefined();
    expect(changed(undefined)).toBeUndefined();
  });
});
