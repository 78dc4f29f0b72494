import { describe, expect, it } from "vitest";
import {
  account,
  accountOfLines,
  call,
  completed,
  event,
  item,
  meta,
  output,
  says,
  THREAD,
  user,
} from "./codex-support.ts";

// Calls, and the events and completed items about them.

const outcomesOf = (...lines: (object | string)[]) => account(...lines).outcomes;
const KID = "01a00000-0000-7000-8000-00000000000c";
const frames = (type: string, ...lines: object[]) =>
  account(...lines).records.flatMap((record) => record.frames.filter((frame) => frame.type === type));

describe("a call", () => {
  it("gets its own id, its item's id, or an id of its position in the file", () => {
    expect(
      outcomesOf(
        item({ type: "function_call", call_id: "a", id: "b", name: "x", arguments: "{}" }),
        item({ type: "function_call", id: "b", name: "x", arguments: "{}" }),
        item({ type: "function_call", call_id: " ", arguments: null, input: "raw input" }),
        item({ type: "custom_tool_call", call_id: "d", name: "apply_patch", input: "patch" }),
        item({ type: "function_call", call_id: "e", name: "x" }),
        item({ type: "tool_search_call", call_id: "f", name: "ignored", arguments: { q: 1 } }),
        item({ type: "local_shell_call", call_id: "g", name: "ignored", action: { command: ["ls"] } }),
      ),
    ).toEqual([
      "shown · call a x {}",
      "shown · call b x {}",
      "shown · call line-288 unknown raw input",
      "shown · call d apply_patch patch",
      "shown · call e x",
      'shown · call f tool_search {"q":1}',
      'shown · call g local_shell {"command":["ls"]}',
    ]);
  });

  it("that polls a command or writes to it refers to that command", () => {
    const running = (number: number) =>
      `Wall time: 10 seconds\nProcess running with session ID ${number}\nOutput:\npart`;
    const ended = "Wall time: 1 seconds\nProcess exited with code 0\nOutput:\ndone";
    const results = frames(
      "message.tool_result",
      call("exec_command", { cmd: "cargo build" }, "a"),
      output(running(46504), "a"),
      call("exec_command", { cmd: "npm init" }, "b"),
      output(running(7), "b"),
      call("write_stdin", { session_id: 46504, chars: "" }, "c"),
      output(running(46504), "c"),
      call("write_stdin", { session_id: "7", chars: "y\n" }, "d"),
      output(ended, "d"),
      call("write_stdin", { session_id: 46504, chars: "" }, "e"),
      output(ended, "e"),
      call("write_stdin", { session_id: 9, chars: "" }, "f"),
      output("write_stdin failed: no such session", "f"),
    );
    const commands = results.map(
      (frame) =>
        frame.type === "message.tool_result" &&
        frame.ui_extra?.type === "shell" && [frame.tool_call_id, frame.ui_extra.command],
    );
    expect(commands).toEqual([
      ["a", "cargo build"],
      ["b", "npm init"],
      ["c", "cargo build"],
      ["d", "npm init"],
      ["e", "cargo build"],
      ["f", undefined],
    ]);
  });

  it("is paired with an output by the item's id if the output has no call id", () => {
    expect(
      outcomesOf(
        call("x", {}, "a"),
        item({ type: "custom_tool_call_output", id: "a", output: "one" }),
        item({ type: "local_shell_call_output", output: "two" }),
        item({ type: "mcp_tool_call_output", call_id: "m", output: "three" }),
      ),
    ).toEqual([
      "shown · call a x {}",
      'shown · result a success "one"',
      'shown · result line-276 success "two"',
      'shown · result m success "three"',
    ]);
  });

  it("that is repeated identically is one call; with other arguments it is another", () => {
    expect(
      outcomesOf(
        call("x", { a: 1 }),
        call("x", { a: 1 }),
        call("y", { a: 1 }),
        call("y", { a: 2 }),
        output("ok"),
      ),
    ).toEqual([
      'shown · call c x {"a":1}',
      "folded into call c",
      'shown · call c@298 y {"a":1}',
      'shown · call c@407 y {"a":2}',
      'shown · result c success "ok"',
    ]);
  });

  it("with equal arguments is separate under another item id, and the same under the same id or none", () => {
    const asked = (id?: string) =>
      item({ type: "function_call", call_id: "c", name: "x", arguments: "{}", ...(id && { id }) });
    const outputs = (...calls: object[]) =>
      outcomesOf(...calls, output("one"), output("two")).filter((line) => line.startsWith("shown · result"));
    const each = [
      'shown · result c success "one"',
      expect.stringMatching(/^shown · result c@\d+ success "two"$/),
    ];
    expect(outputs(asked("fc_1"), asked("fc_2"))).toEqual(each);
    for (const calls of [
      ["fc_1", "fc_1"],
      ["fc_1", undefined],
      [undefined, "fc_1"],
      [undefined, undefined],
    ]) {
      expect(outputs(...calls.map(asked))).toEqual(['shown · result c success "two"']);
    }
  });

  it("that shares its id with others is identified by its item id when all are repeated", () => {
    const asked = (id: string, args: string) =>
      item({ type: "function_call", call_id: "c", id, name: "x", arguments: args });
    for (const other of ["{}", '{"a":1}']) {
      const both = [asked("fc_1", "{}"), asked("fc_2", other)];
      expect(outcomesOf(...both, ...both, output("one"), output("two"))).toEqual([
        "shown · call c x {}",
        expect.stringMatching(/^shown · call c@\d+ x /),
        "folded into call c",
        "folded into call c",
        'shown · result c success "one"',
        expect.stringMatching(/^shown · result c@\d+ success "two"$/),
      ]);
    }
  });

  it("that shares its id with others gets its own output, in call order", () => {
    const asked = (message: string) => call("spawn_agent", { message });
    const started = (agent_id: string) => output(JSON.stringify({ agent_id }));
    const { parts, reader } = account(
      ...[asked("one"), asked("two"), asked("three")],
      ...[started("a"), started("b"), started("c")],
      says("Wait."),
      ...[asked("four"), user("on"), asked("five"), started("e")],
    );
    const outputOf = (id: string) =>
      parts.find((part) => part.type === "tool_result" && part.tool_call_id === id);
    const outcomes = parts.flatMap((part) =>
      part.type === "tool_call" ? [[part.arguments_json, outputOf(part.tool_call_id)]] : [],
    );
    expect(outcomes).toEqual([
      ['{"message":"one"}', expect.objectContaining({ output_text: '{"agent_id":"a"}' })],
      ['{"message":"two"}', expect.objectContaining({ output_text: '{"agent_id":"b"}' })],
      ['{"message":"three"}', expect.objectContaining({ output_text: '{"agent_id":"c"}' })],
      ['{"message":"four"}', undefined],
      ['{"message":"five"}', expect.objectContaining({ output_text: '{"agent_id":"e"}' })],
    ]);
    expect(reader.linkFacts().sessions[0]?.calls).toMatchObject([
      { prompt: "one", agent_key: "a" },
      { prompt: "two", agent_key: "b" },
      { prompt: "three", agent_key: "c" },
      { prompt: "four" },
      { prompt: "five", agent_key: "e" },
    ]);
  });

  describe("that shares its id with others", () => {
    const run = (command: string) => call("shell", { command: ["bash", "-lc", command] });
    const ended = (command: string, exit_code: number) =>
      event("exec_command_end", { call_id: "c", command: ["zsh", "-lc", command], exit_code });
    const item_ended = (command: string, exit_code: number) =>
      completed("CommandExecution", { id: "c", command, exit_code });
    /** The payloads of the calls' cards, by the calls' arguments. */
    const cards = (...lines: object[]) => {
      const { parts } = account(...lines);
      const results = new Map(
        parts.flatMap((part) => (part.type === "tool_result" ? [[part.tool_call_id, part]] : [])),
      );
      return parts.flatMap((part) => {
        if (part.type !== "tool_call") return [];
        const result = results.get(part.tool_call_id);
        return [[part.arguments_json, result?.status, result?.ui_extra]];
      });
    };
    const failed_and_fine = [
      ['{"command":["bash","-lc","false"]}', "error", { type: "shell", command: "false", exit_code: 1 }],
      ['{"command":["bash","-lc","true"]}', "success", { type: "shell", command: "true", exit_code: 0 }],
    ];
    const both = [run("false"), run("true")];
    const outputs = [output("bad"), output("good")];

    it.each([
      ["in call order", [...both, ended("false", 1), ended("true", 0), ...outputs]],
      ["in another order", [...both, ended("true", 0), ended("false", 1), ...outputs]],
      ["each before its output", [...both, ended("false", 1), outputs[0], ended("true", 0), outputs[1]]],
      ["before the next call", [both[0], ended("false", 1), both[1], ended("true", 0), ...outputs]],
      ["for only one call", [...both, ended("false", 1), output("bad"), output("Exit code: 0\nOutput:\n")]],
      ["repeated", [...both, ended("false", 1), ended("false", 1), ended("true", 0), ...outputs]],
      [
        "and equal items",
        [
          ...both,
          ended("false", 1),
          item_ended("false", 1),
          ended("true", 0),
          item_ended("true", 0),
          ...outputs,
        ],
      ],
    ])("gets the end of its own command from events: %s", (_, lines) => {
      expect(cards(...lines.filter((line) => line !== undefined))).toMatchObject(failed_and_fine);
    });

    it("gets the end of its own command, also after the outputs", () => {
      expect(cards(...both, ...outputs, ended("true", 0), ended("false", 1))).toMatchObject(
        failed_and_fine.map(([asked, , card]) => [asked, "success", card]),
      );
    });

    it("gets the first unclaimed end, if the commands are equal or unknown", () => {
      const codes = (first: object, second: object) =>
        cards(run("x"), call("exec_command", { cmd: "x" }), first, second, ...outputs).map(
          ([, status]) => status,
        );
      expect(codes(ended("x", 1), ended("x", 0))).toEqual(["error", "success"]);
      expect(codes(ended("y", 1), ended("z", 0))).toEqual(["error", "success"]);
      expect(codes(ended("x", 0), ended("x", 1))).toEqual(["success", "error"]);
    });

    const patch = (...names: string[]) =>
      `*** Begin Patch\n${names.map((name) => `*** Add File: ${name}\n+x\n`).join("")}*** End Patch`;
    const patched = (...paths: string[]) =>
      event("patch_apply_end", {
        call_id: "c",
        success: true,
        changes: Object.fromEntries(paths.map((path) => [path, { type: "add", content: "x\n" }])),
      });

    it("gets the facts of its own tool", () => {
      const tool = event("mcp_tool_call_end", {
        call_id: "c",
        invocation: { server: "s", tool: "t" },
        result: { Err: "no" },
      });
      const own = event("dynamic_tool_call_response", { call_id: "c", tool: "own", success: false });
      const declined = event("patch_apply_end", { call_id: "c", status: "declined" });
      expect(
        cards(
          ...[call("update_plan", {}), call("apply_patch", "p"), run("ls"), call("mcp__s__t", {})],
          ...[call("own", {}), own, tool, declined, ended("ls", 0)],
          ...["1", "2", "3", "4", "5"].map((text) => output(text)),
        ),
      ).toMatchObject([
        ["{}", "success", undefined],
        ["p", "aborted", undefined],
        [expect.stringContaining("ls"), "success", { type: "shell", exit_code: 0 }],
        ["{}", "error", { type: "mcp", server: "s" }],
        ["{}", "error", undefined],
      ]);
    });

    it("gets the diff of its own files, even if another patch failed without an event", () => {
      const through_shell = { command: ["bash", "-lc", `apply_patch <<'EOF'\n${patch("e")}\nEOF`] };
      expect(
        cards(
          ...[run("ls"), call("apply_patch", patch("a")), call("apply_patch", { input: patch("a/b", "c") })],
          ...[call("apply_patch", patch("C:\\d")), call("shell", through_shell)],
          ...[patched("/w/e"), patched("C:\\d"), patched("/w/c", "/w/a/b")],
          ...["files", "error: no such file", "b and c", "d", "e"].map((text) => output(text)),
        ),
      ).toMatchObject([
        [expect.anything(), "success", { type: "shell" }],
        [patch("a"), "error", undefined],
        [expect.anything(), "success", { files: [{ path: "/w/c" }, { path: "/w/a/b" }] }],
        [expect.anything(), "success", { files: [{ path: "C:\\d" }] }],
        [expect.anything(), "success", { files: [{ path: "/w/e" }] }],
      ]);
    });

    describe("gets its own run", () => {
      const [ada, bob] = [KID, "01a00000-0000-7000-8000-00000000000d"] as const;
      const asked = [call("spawn_agent", { message: "one" }), call("spawn_agent", { message: "two" })];
      const event_of = (thread: string) =>
        event("collab_agent_spawn_end", {
          call_id: "c",
          new_thread_id: thread,
          new_agent_nickname: thread === ada ? "Ada" : "Bob",
        });
      const item_of = (thread: string, more: object = {}) =>
        completed("CollabAgentToolCall", {
          id: "c",
          tool: "spawn_agent",
          receiver_thread_ids: [thread],
          receiver_agents: [{ agent_nickname: thread === ada ? "Ada" : "Bob" }],
          status: "completed",
          ...more,
        });
      const activity_of = (thread: string, kind: string) =>
        event("sub_agent_activity", {
          event_id: "c",
          agent_thread_id: thread,
          agent_path: thread === ada ? "/root/Ada" : "/root/Bob",
          kind,
        });
      const outputs = [output({ agent_id: ada }), output({ agent_id: bob })];

      it.each([
        ["events", [event_of(ada), event_of(bob)]],
        ["items", [item_of(ada), item_of(bob)]],
        ["items in another order", [item_of(bob, { prompt: "two" }), item_of(ada, { prompt: "one" })]],
        ["events and items", [event_of(ada), item_of(ada), event_of(bob), item_of(bob)]],
        [
          "activities",
          [activity_of(ada, "started"), activity_of(ada, "interacted"), activity_of(bob, "started")],
        ],
      ])("from %s", (_, lines) => {
        const { records, parts, reader } = account(...asked, ...lines, ...outputs);
        const starts = records.flatMap(({ frames }) =>
          frames.flatMap((frame) => (frame.type === "task.start" ? [frame.sub_agent] : [])),
        );
        expect(starts).toHaveLength(2);
        expect(starts).toEqual(
          expect.arrayContaining([
            { session_id: ada, name: "Ada", task: "one" },
            { session_id: bob, name: "Bob", task: "two" },
          ]),
        );
        expect(parts.flatMap((part) => (part.type === "tool_result" ? [part.ui_extra] : []))).toMatchObject([
          { session_id: ada, name: "Ada", task: "one" },
          { session_id: bob, name: "Bob", task: "two" },
        ]);
        expect(reader.linkFacts().sessions[0]?.calls).toMatchObject([
          { prompt: "one", agent_key: ada },
          { prompt: "two", agent_key: bob },
        ]);
      });

      it("gets its own failure to start a run", () => {
        expect(
          cards(
            ...asked,
            item_of("", { receiver_thread_ids: [], receiver_agents: [], status: "failed" }),
            item_of(bob),
            output("no room"),
            output({ agent_id: bob }),
          ),
        ).toMatchObject([
          [expect.anything(), "error", { task: "one" }],
          [expect.anything(), "success", { task: "two", name: "Bob" }],
        ]);
      });
    });
  });

  it("that reuses the id of an answered call is another call", () => {
    const asked = call("exec_command", { cmd: "git status" });
    const { outcomes, transcript } = account(
      asked,
      output("dirty"),
      says("I commit."),
      asked,
      output("clean"),
    );
    expect(outcomes).toEqual([
      'shown · call c exec_command {"cmd":"git status"}',
      expect.stringMatching(/^shown · result c success "dirty"/),
      'shown · text "I commit."',
      expect.stringMatching(/^shown · call c@\d+ exec_command \{"cmd":"git status"\}$/),
      expect.stringMatching(/^shown · result c@\d+ success "clean"/),
    ]);
    expect(transcript.turns.at(0)?.tool_calls).toBe(2);
  });

  it("ignores a repeated output, and is updated by a different one", () => {
    expect(outcomesOf(call("x", {}), output("one"), output("one"), output("two"), output("two"))).toEqual([
      "shown · call c x {}",
      'shown · result c success "two"',
      "folded into call c",
      "folded into call c",
      "folded into call c",
    ]);
  });

  it("takes an earlier output of its own turn, not of an earlier turn", () => {
    const late = [output("early"), call("exec_command", { cmd: "ls" }), output("late")];
    expect(outcomesOf(event("task_started", { turn_id: "1" }), ...late)).toEqual([
      "folded into the turn",
      'shown · result c success "late" {"type":"shell","command":"ls"}',
      'shown · call c exec_command {"cmd":"ls"}',
      "folded into call c",
    ]);
    expect(
      outcomesOf(
        event("task_started", { turn_id: "1" }),
        output("early"),
        event("task_started", { turn_id: "2" }),
        call("x", {}),
        output("late"),
      ),
    ).toEqual([
      "folded into the turn",
      'shown · result c success "early"',
      "folded into the turn",
      "shown · call c x {}",
      'shown · result c success "late"',
    ]);
  });

  it("lists the tools that a search found", () => {
    const tools = [{ name: "a" }, { name: "b", tools: [{ name: "c" }, {}] }, { no: 1 }, "x"];
    expect(outcomesOf(item({ type: "tool_search_output", call_id: "s", tools }))).toEqual([
      'shown · result s success "a\\nb: c, ?"',
    ]);
  });

  it("reports a failure, with and without its call", () => {
    const failed = (...lines: object[]) =>
      frames("message.tool_result", ...lines).map(
        (frame) => frame.type === "message.tool_result" && frame.is_error,
      );
    expect(failed(output("ok"), output("error: x", "d"), output("aborted by user", "e"))).toEqual([
      false,
      true,
      false,
    ]);
    expect(failed(call("x", {}), output("ok"))).toEqual([false]);
    expect(failed(call("x", {}), output("error: x"))).toEqual([true]);
    expect(failed(call("x", {}), output("aborted by user"))).toEqual([false]);
  });
});

describe("a command that ended", () => {
  const ended = (payload: object) => event("exec_command_end", { call_id: "c", ...payload });

  it("adds facts to its call's card that the output lacks", () => {
    expect(
      outcomesOf(
        call("exec_command", { cmd: "a" }),
        ended({
          command: ["bash", "-lc", "make all"],
          cwd: "file:///w/x",
          exit_code: 0,
          duration: { secs: 1, nanos: 500_400_000 },
          aggregated_output: "whole",
          formatted_output: "formatted",
        }),
        output("out"),
      ),
    ).toEqual([
      'shown · call c exec_command {"cmd":"a"}',
      "folded into call c",
      'shown · result c success "out" {"type":"shell","command":"make all","cwd":"/w/x","exit_code":0,"duration_ms":1500}',
    ]);
    expect(
      outcomesOf(call("exec_command", { cmd: "a" }), output("out"), ended({ exit_code: 2, duration: 12 })),
    ).toEqual([
      'shown · call c exec_command {"cmd":"a"}',
      'shown · result c success "out" {"type":"shell","command":"a","exit_code":2,"duration_ms":12}',
      "folded into call c",
    ]);
  });

  it("overrides a successful output if it failed or was declined", () => {
    const statuses = (payload: object, text = "fine") =>
      account(call("exec_command", { cmd: "a" }), ended(payload), output(text)).parts.flatMap((part) =>
        part.type === "tool_result" ? part.status : [],
      );
    expect(statuses({ exit_code: 1 })).toEqual(["error"]);
    expect(statuses({ exit_code: 0 })).toEqual(["success"]);
    expect(statuses({ status: "failed" })).toEqual(["error"]);
    expect(statuses({ status: "declined", exit_code: 1 })).toEqual(["aborted"]);
    expect(statuses({ status: "completed" })).toEqual(["success"]);
    expect(statuses({ status: "declined" }, "error: x")).toEqual(["aborted"]);
    expect(
      statuses({ exit_code: 1 }, "Wall time: 1 seconds\nProcess running with session ID 4\nOutput:\n"),
    ).toEqual(["success"]);
  });

  it("is shown from the event if it has no call", () => {
    expect(
      outcomesOf(
        ended({ command: ["ls", "-l"], cwd: "/w", exit_code: 1, formatted_output: "no", call_id: "n" }),
        event("exec_command_end", { call_id: 5 }),
        ended({ command: [5], call_id: "q", duration: { secs: 2 } }),
      ),
    ).toEqual([
      'shown · call n shell {"command":"ls -l","workdir":"/w"} · result n error "no" {"type":"shell","command":"ls -l","cwd":"/w","exit_code":1}',
      'shown · call line-224 shell {"command":""} · result line-224 success "" {"type":"shell","command":""}',
      'shown · call q shell {"command":""} · result q success "" {"type":"shell","command":"","duration_ms":2000}',
    ]);
  });

  it("offers the stored file of an output that was truncated for the model", () => {
    const cut = output("Exit code: 0\nOutput:\n1 2…90 tokens truncated…8 9");
    const asked = call("exec_command", { cmd: "a" });
    const file = (text: string) =>
      `[{"type":"file","mime":"text/plain","filename":"output.txt","url":"data:text/plain;charset=utf-8,${text}"}]`;
    const kept = `1 2 3 é${" 4".repeat(30)} 8 9`;
    const shown = file(encodeURIComponent(kept));
    expect(outcomesOf(asked, cut, ended({ aggregated_output: kept })).at(1)).toContain(shown);
    expect(outcomesOf(asked, ended({ aggregated_output: kept }), cut).at(2)).toContain(shown);
    const without = (shown: object, aggregated_output: string) =>
      outcomesOf(asked, shown, ended({ aggregated_output })).at(1);
    expect(without(cut, "1 2 8 9")).not.toContain('"file"');
    expect(without(output("fine"), "fine, and more")).not.toContain('"file"');
    expect(without(output("aborted by user\n1…9 tokens truncated…2"), kept)).not.toContain('"file"');
  });

  it("offers the whole output of a command that went on in the background, and its own duration", () => {
    const begun = output("Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\nbegun\n");
    const end = (aggregated_output: string) => ended({ aggregated_output, exit_code: 0, duration: 45_000 });
    const asked = call("exec_command", { cmd: "a" });
    expect(outcomesOf(asked, begun, end("begun\nended\n")).at(1)).toBe(
      'shown · result c success "Wall time: 10 seconds\\nProcess running with session ID 7\\nOutput:\\nbegun\\n" [{"type":"file","mime":"text/plain","filename":"output.txt","url":"data:text/plain;charset=utf-8,begun%0Aended%0A"}] {"type":"shell","command":"a","exit_code":0,"duration_ms":45000,"background_task_id":"7","output_start":64}',
    );
    expect(outcomesOf(asked, begun, end("begun\n")).at(1)).not.toContain('"file"');
  });

  it("adds its remaining output to a call that was cut off", () => {
    const late = (text: string) =>
      outcomesOf(
        call("exec_command", { cmd: "a" }),
        output("aborted by user\nx"),
        ended({ aggregated_output: text }),
      ).at(1);
    expect(late("wrote this")).toEqual(
      'shown · result c aborted "aborted by user\\nx\\nwrote this" {"type":"shell","command":"a","interrupted":true}',
    );
    expect(late("x")).toEqual(
      'shown · result c aborted "aborted by user\\nx" {"type":"shell","command":"a","interrupted":true}',
    );
    expect(late("  ")).toEqual(
      'shown · result c aborted "aborted by user\\nx" {"type":"shell","command":"a","interrupted":true}',
    );
    expect(
      outcomesOf(call("exec_command", { cmd: "a" }), output("fine"), ended({ aggregated_output: "more" })).at(
        1,
      ),
    ).toEqual('shown · result c success "fine" {"type":"shell","command":"a"}');
  });

  it.each([
    [["bash", "-lc", "ls | wc"], "ls | wc"],
    [["bash", "-c", "ls"], "ls"],
    [["bash", "-ic", "ls"], "ls"],
    [["git", "log", "-1"], "git log -1"],
    [["bash", "-lc", "ls", "x"], "bash -lc ls x"],
    [["a", "x-c", "b"], "a x-c b"],
    [["a", "-cx", "b"], "a -cx b"],
    [["bash", "-lc"], "bash -lc"],
    ["ls", "ls"],
  ])("with command %j is shown as %s", (command, shown) => {
    const [line] = outcomesOf(ended({ command, cwd: "/x/file:///y" }));
    expect(line).toContain(`{"type":"shell","command":"${shown}","cwd":"/x/file:///y"}`);
  });
});

describe("operations inside a code cell", () => {
  const cell = (id = "cell") =>
    item({ type: "custom_tool_call", call_id: id, name: "exec", input: "await x()" });
  const done = (text = "Script completed\nOutput:\nok", id = "cell") =>
    item({ type: "custom_tool_call_output", call_id: id, output: text });
  const command = (text: string, more: object = {}) =>
    event("exec_command_end", { call_id: "exec-1", command: text, ...more });

  it("show the cell as a shell card for one command, and as a list for several", () => {
    expect(
      outcomesOf(cell(), command("ls", { cwd: "/w", exit_code: 0, duration: { secs: 1 } }), done()),
    ).toEqual([
      "shown · call cell exec await x()",
      "folded into call cell",
      'shown · result cell success "Script completed\\nOutput:\\nok" {"type":"shell","command":"ls","cwd":"/w","duration_ms":1000,"exit_code":0,"output_start":25}',
    ]);
    expect(outcomesOf(cell(), command("ls"), command("pwd"), done()).at(-1)).toEqual(
      'shown · result cell success "Script completed\\nOutput:\\nok" {"type":"shell","command":"ls\\npwd","output_start":25}',
    );
    expect(outcomesOf(cell(), event("exec_command_end", { call_id: "exec-1" }), done()).at(-1)).toEqual(
      'shown · result cell success "Script completed\\nOutput:\\nok" {"type":"shell","command":"","output_start":25}',
    );
  });

  it("name the command that a later script waits for", () => {
    const script = (id: string, input: string) =>
      item({ type: "custom_tool_call", call_id: id, name: "exec", input });
    const printed = (id: string, facts: object, output: string) =>
      item({
        type: "custom_tool_call_output",
        call_id: id,
        output: [
          { type: "input_text", text: "Script completed\nOutput:\n" },
          {
            type: "input_text",
            text: JSON.stringify({
              chunk_id: "a1",
              wall_time_seconds: 5,
              ...facts,
              original_token_count: 1,
              output,
            }),
          },
        ],
      });
    const results = frames(
      "message.tool_result",
      script("a", 'text(await tools.exec_command({cmd:"make all"}))'),
      printed("a", { session_id: 7 }, "Compiling"),
      script("b", "text(await tools.write_stdin({session_id:7}))"),
      printed("b", { session_id: 7 }, "Linking"),
      script("c", "text(await tools.write_stdin({session_id:8}))"),
      printed("c", { exit_code: 0 }, ""),
      script("d", "text(await tools.write_stdin({session_id:7}))"),
      printed("d", { exit_code: 2 }, "No rule"),
    );
    const extras = results.map((frame) => frame.type === "message.tool_result" && frame.ui_extra);
    expect(extras).toEqual([
      { type: "output", output_start: 25 },
      { type: "shell", continues: "make all", output_start: 25 },
      { type: "shell", exit_code: 0, output_start: 25 },
      { type: "shell", continues: "make all", exit_code: 2, output_start: 25 },
    ]);
  });

  it("show the cell as an MCP card for one tool only", () => {
    const tool = (name: string) =>
      event("mcp_tool_call_end", {
        call_id: "exec-2",
        invocation: { server: "s", tool: name },
        result: { Ok: { content: [] } },
        duration: { secs: 1 },
      });
    expect(outcomesOf(cell(), tool("a"), done())).toEqual([
      "shown · call cell exec await x()",
      "folded into call cell",
      'shown · result cell success "Script completed\\nOutput:\\nok" {"type":"mcp","server":"s","tool":"a","output_start":25}',
    ]);
    expect(outcomesOf(cell(), tool("a"), tool("b"), done()).at(-1)).toEqual(
      'shown · result cell success "Script completed\\nOutput:\\nok" {"type":"output","output_start":25}',
    );
    expect(outcomesOf(cell(), tool("a"), command("ls"), done()).at(-1)).toEqual(
      'shown · result cell success "Script completed\\nOutput:\\nok" {"type":"shell","command":"ls","output_start":25}',
    );
  });

  it("show the cell as a diff of all patches", () => {
    const patch = (path: string) =>
      event("patch_apply_end", {
        call_id: "exec-3",
        success: false,
        changes: { [path]: { type: "add", content: "x" } },
      });
    expect(outcomesOf(cell(), patch("/a"), patch("/b"), done())).toEqual([
      "shown · call cell exec await x()",
      "folded into call cell",
      "folded into call cell",
      'shown · result cell success "Script completed\\nOutput:\\nok" {"type":"diff","files":[{"path":"/a","change":"create","additions":1,"deletions":0,"hunks":[{"old_start":0,"new_start":1,"old_lines":0,"new_lines":1,"lines":["+x"]}]},{"path":"/b","change":"create","additions":1,"deletions":0,"hunks":[{"old_start":0,"new_start":1,"old_lines":0,"new_lines":1,"lines":["+x"]}]}]}',
    ]);
  });

  it("attribute a search without a call to the open cell, and show it alone after the cell's output", () => {
    const search = event("web_search_end", { call_id: "w", query: "tabs" });
    expect(outcomesOf(cell(), search, done())).toEqual([
      "shown · call cell exec await x()",
      "folded into call cell",
      'shown · result cell success "Script completed\\nOutput:\\nok" {"type":"web_search","query":"tabs","results":[]}',
    ]);
    expect(outcomesOf(cell(), done(), search, says("x"))).toEqual([
      "shown · call cell exec await x()",
      'shown · result cell success "Script completed\\nOutput:\\nok" {"type":"output","output_start":25}',
      'shown · call w web_search {} · result w success "" {"type":"web_search","query":"tabs","results":[]}',
      'shown · text "x"',
    ]);
  });

  it("belong to the oldest unanswered cell, then to a running one, then to the last", () => {
    const where = (...lines: object[]) => outcomesOf(...lines, command("ls")).at(-1);
    const running = (id: string) => done("Script running with cell ID 1\nOutput:\n", id);
    expect(where(cell("a"), cell("b"))).toBe("folded into call a");
    expect(where(cell("a"), cell("b"), done("ok", "a"))).toBe("folded into call b");
    expect(where(cell("a"), cell("b"), running("b"), done("ok", "a"))).toBe("folded into call b");
    expect(where(cell("a"), running("a"), cell("b"), done("ok", "b"))).toBe("folded into call a");
    expect(where(cell("a"), running("a"), cell("b"), running("b"), cell("c"), done("ok", "c"))).toBe(
      "folded into call b",
    );
    expect(where(cell("a"), done("ok", "a"), cell("b"), done("ok", "b"))).toBe("folded into call b");
    expect(where(cell("a"), done("ok", "a"), cell("b"), done("ok", "b"), call("x", {}))).toBe(
      "folded into call b",
    );
  });

  it("are shown alone without a cell, or if their id is not a cell's", () => {
    expect(outcomesOf(command("ls"))).toEqual([
      'shown · call exec-1 shell {"command":"ls"} · result exec-1 success "" {"type":"shell","command":"ls"}',
    ]);
    expect(outcomesOf(cell(), event("exec_command_end", { call_id: "my-exec-1", command: "ls" }))).toEqual([
      "shown · call cell exec await x()",
      'shown · call my-exec-1 shell {"command":"ls"} · result my-exec-1 success "" {"type":"shell","command":"ls"}',
    ]);
  });
});

describe("a patch with an event", () => {
  const patched = (payload: object) => event("patch_apply_end", { call_id: "c", ...payload });
  const changes = { "/a": { type: "add", content: "x" } };

  it("gives its call the diff and the failure", () => {
    expect(outcomesOf(call("apply_patch", "p"), patched({ changes, success: true }), output("Done"))).toEqual(
      [
        "shown · call c apply_patch p",
        "folded into call c",
        'shown · result c success "Done" {"type":"diff","files":[{"path":"/a","change":"create","additions":1,"deletions":0,"hunks":[{"old_start":0,"new_start":1,"old_lines":0,"new_lines":1,"lines":["+x"]}]}]}',
      ],
    );
    expect(
      outcomesOf(call("apply_patch", "p"), patched({ changes, success: false }), output("Done")).at(-1),
    ).toEqual(
      'shown · result c error "Done" {"type":"diff","files":[{"path":"/a","change":"create","additions":1,"deletions":0,"hunks":[{"old_start":0,"new_start":1,"old_lines":0,"new_lines":1,"lines":["+x"]}]}]}',
    );
    expect(
      outcomesOf(call("apply_patch", "p"), patched({ status: "failed" }), output("Done")).at(-1),
    ).toEqual('shown · result c error "Done"');
    expect(
      outcomesOf(call("apply_patch", "p"), patched({ status: "declined" }), output("Done")).at(-1),
    ).toEqual('shown · result c aborted "Done"');
  });

  it("is shown from the event with its output if it has no call", () => {
    expect(outcomesOf(patched({ changes, stdout: "out", stderr: "err", success: true }))).toEqual([
      'shown · call c apply_patch {"files":["/a"]} · result c success "out\\nerr" {"type":"diff","files":[{"path":"/a","change":"create","additions":1,"deletions":0,"hunks":[{"old_start":0,"new_start":1,"old_lines":0,"new_lines":1,"lines":["+x"]}]}]}',
    ]);
    expect(outcomesOf(patched({ changes, stdout: "", stderr: "err", success: false }))).toEqual([
      'shown · call c apply_patch {"files":["/a"]} · result c error "err" {"type":"diff","files":[{"path":"/a","change":"create","additions":1,"deletions":0,"hunks":[{"old_start":0,"new_start":1,"old_lines":0,"new_lines":1,"lines":["+x"]}]}]}',
    ]);
    expect(outcomesOf(completed("FileChange", { id: "f", changes, status: "declined" }))).toEqual([
      'shown · call f apply_patch {"files":["/a"]} · result f aborted "" {"type":"diff","files":[{"path":"/a","change":"create","additions":1,"deletions":0,"hunks":[{"old_start":0,"new_start":1,"old_lines":0,"new_lines":1,"lines":["+x"]}]}]}',
    ]);
  });
});

describe("an MCP tool call", () => {
  const ended = (payload: object, call_id = "m") => event("mcp_tool_call_end", { call_id, ...payload });
  const invocation = { server: "s", tool: "t", arguments: { q: 1 } };

  it("is shown from its event with its text and images", () => {
    const content = [
      { type: "text", text: "one" },
      { type: "image", data: "QQ==", mimeType: "image/png" },
    ];
    expect(
      outcomesOf(ended({ invocation, result: { Ok: { content } }, duration: { secs: 2, nanos: 0 } })),
    ).toEqual([
      'shown · call m mcp__s__t {"q":1} · result m success "one" [{"type":"image_url","url":"data:image/png;base64,QQ=="}] {"type":"mcp","server":"s","tool":"t"}',
    ]);
    expect(
      outcomesOf(ended({ server: "s", tool: "t", result: { content, structured_content: { n: 1 } } })),
    ).toEqual([
      'shown · call m mcp__s__t {} · result m success "one" [{"type":"image_url","url":"data:image/png;base64,QQ=="}] {"type":"mcp","server":"s","tool":"t","structured":{"n":1}}',
    ]);
    expect(outcomesOf(ended({ invocation, result: { Ok: { content, structuredContent: null } } }))).toEqual([
      'shown · call m mcp__s__t {"q":1} · result m success "one" [{"type":"image_url","url":"data:image/png;base64,QQ=="}] {"type":"mcp","server":"s","tool":"t"}',
    ]);
    expect(
      outcomesOf(ended({ invocation: { arguments: null }, result: { Ok: { structuredContent: [1] } } })),
    ).toEqual([
      'shown · call m mcp____ {} · result m success "" {"type":"mcp","server":"","tool":"","structured":[1]}',
    ]);
  });

  it.each([
    ["by its result", { result: { Err: "no" } }, 'error "no"'],
    ["by its error's message", { error: { message: "bad" } }, 'error "bad"'],
    ["by its error", { error: "worse" }, 'error "worse"'],
    ["by its content", { result: { Ok: { isError: true, content: [{ text: "hm" }] } } }, 'error "hm"'],
    ["by its status", { status: "failed", result: { content: [{ text: "hm" }] } }, 'error "hm"'],
    [
      "not with an error beside a result",
      { error: "old", result: { content: [{ text: "ok" }] } },
      'success "ok"',
    ],
    ["not with an error that is not text", { error: 5, result: {} }, 'success ""'],
  ])("has failed: %s", (_, payload, said) => {
    expect(outcomesOf(ended({ invocation, ...payload }))[0]).toContain(`result m ${said}`);
  });

  it("is merged with its call if there is one", () => {
    expect(
      outcomesOf(call("mcp__s__t", {}), ended({ invocation, result: { Err: "no" } }, "c"), output("fine")),
    ).toEqual([
      "shown · call c mcp__s__t {}",
      "folded into call c",
      'shown · result c error "fine" {"type":"mcp","server":"s","tool":"t"}',
    ]);
    expect(outcomesOf(completed("McpToolCall", { id: "i", ...invocation, status: "completed" }))).toEqual([
      'shown · call i mcp__s__t {"q":1} · result i success "" {"type":"mcp","server":"s","tool":"t"}',
    ]);
  });
});

describe("a web search", () => {
  const page = { title: "T", url: "https://a.test" };

  it("shows its query and pages from any of their fields", () => {
    const search = (payload: object) =>
      outcomesOf(item({ type: "web_search_call", id: "w", status: "completed", ...payload }))[0];
    expect(
      search({
        action: { type: "search", query: "q" },
        results: [page, { url: "https://b.test" }, { title: "only" }, {}, 5],
      }),
    ).toEqual(
      'shown · call w web_search {"type":"search","query":"q"} · result w success "T\\nhttps://a.test\\n\\nhttps://b.test\\nhttps://b.test\\n\\nonly\\n" {"type":"web_search","query":"q","results":[{"title":"T","url":"https://a.test"},{"title":"https://b.test","url":"https://b.test"},{"title":"only","url":""}]}',
    );
    expect(search({ action: { queries: ["a", "b"] } })).toEqual(
      'shown · call w web_search {"queries":["a","b"]} · result w success "" {"type":"web_search","query":"a; b","results":[]}',
    );
    expect(search({ action: { url: "https://c.test" } })).toEqual(
      'shown · call w web_search {"url":"https://c.test"} · result w success "" {"type":"web_search","query":"https://c.test","results":[]}',
    );
    expect(search({ action: { pattern: "p" } })).toEqual(
      'shown · call w web_search {"pattern":"p"} · result w success "" {"type":"web_search","query":"p","results":[]}',
    );
    expect(search({ query: "direct", action: { query: "q" } })).toEqual(
      'shown · call w web_search {"query":"q"} · result w success "" {"type":"web_search","query":"direct","results":[]}',
    );
    expect(search({ status: "failed" })).toEqual(
      'shown · call w web_search {} · result w error "" {"type":"web_search","query":"","results":[]}',
    );
  });

  it("is merged with the first record when it is repeated", () => {
    const first = item({ type: "web_search_call", id: "w", action: { query: "q" } });
    expect(
      outcomesOf(first, item({ type: "web_search_call", call_id: "w", action: { query: "other" } })),
    ).toEqual([
      'shown · call w web_search {"query":"q"} · result w success "" {"type":"web_search","query":"q","results":[]}',
      "folded into call w",
    ]);
    expect(
      outcomesOf(first, event("web_search_end", { call_id: "w", query: "better", results: [page] })),
    ).toEqual([
      'shown · call w web_search {"query":"q"} · result w success "" {"type":"web_search","query":"better","results":[{"title":"T","url":"https://a.test"}]}',
      "folded into call w",
    ]);
    expect(outcomesOf(call("web_search", "{}", "w"), first)).toEqual([
      "shown · call w web_search {}",
      "folded into call w",
    ]);
  });

  it("is shown with its item and the facts of an earlier event", () => {
    const ahead = event("web_search_end", { call_id: "w", query: "q", results: [page] });
    expect(outcomesOf(ahead, item({ type: "web_search_call", id: "w", status: "completed" }))).toEqual([
      "folded into call w",
      'shown · call w web_search {} · result w success "T\\nhttps://a.test" {"type":"web_search","query":"q","results":[{"title":"T","url":"https://a.test"}]}',
    ]);
    expect(
      outcomesOf(
        completed("WebSearch", { id: "w", query: "q", results: [page] }),
        item({ type: "web_search_call", id: "w" }),
      ),
    ).toEqual([
      "folded into call w",
      'shown · call w web_search {} · result w success "T\\nhttps://a.test" {"type":"web_search","query":"q","results":[{"title":"T","url":"https://a.test"}]}',
    ]);
    expect(outcomesOf(ahead, item({ type: "web_search_call", id: "v" }))).toEqual([
      'shown · call w web_search {} · result w success "T\\nhttps://a.test" {"type":"web_search","query":"q","results":[{"title":"T","url":"https://a.test"}]}',
      'shown · call v web_search {} · result v success "" {"type":"web_search","query":"","results":[]}',
    ]);
    expect(outcomesOf(ahead, { type: "other", payload: { id: "w" } })).toEqual([
      'shown · call w web_search {} · result w success "T\\nhttps://a.test" {"type":"web_search","query":"q","results":[{"title":"T","url":"https://a.test"}]}',
      'unknown · unknown other {"type":"other","payload":{"id":"w"}}',
    ]);
  });

  it("gets an id of its position if it has none; a search of an extension is shown the same way", () => {
    expect(outcomesOf(item({ type: "web_search_call" }))).toEqual([
      'shown · call line-80 web_search {} · result line-80 success "" {"type":"web_search","query":"","results":[]}',
    ]);
    expect(outcomesOf(completed("Extension", { id: "x", query: "e", action: { a: 1 } }))).toEqual([
      'shown · call x web_search {"a":1} · result x success "" {"type":"web_search","query":"e","results":[]}',
    ]);
    expect(outcomesOf(event("web_search_end", { query: "n", status: "failed" }))).toEqual([
      'shown · call line-80 web_search {} · result line-80 error "" {"type":"web_search","query":"n","results":[]}',
    ]);
  });

  it("is shown with kind and payload if an extension did something else", () => {
    const chart = { kind: "canvas.render", id: "exec-c", title: "Sales", payload: { svg: "<svg/>" } };
    expect(outcomesOf(completed("Extension", chart))).toEqual([
      'shown · call exec-c canvas.render {"title":"Sales","payload":{"svg":"<svg/>"}} · result exec-c success ""',
    ]);
    expect(outcomesOf(completed("Extension", { ...chart, status: "failed", error: "No canvas" }))).toEqual([
      'shown · call exec-c canvas.render {"title":"Sales","payload":{"svg":"<svg/>"}} · result exec-c error "No canvas"',
    ]);
    expect(outcomesOf(completed("Extension", {}))).toEqual([
      'shown · call line-80 extension {} · result line-80 success ""',
    ]);
    // Inside a code cell it is shown beside the cell, which continues.
    const cell = item({ type: "custom_tool_call", call_id: "x", name: "exec", input: "canvas()" });
    expect(outcomesOf(cell, completed("Extension", chart), output("Script completed\n", "x"))).toEqual([
      "shown · call x exec canvas()",
      'shown · call exec-c canvas.render {"title":"Sales","payload":{"svg":"<svg/>"}} · result exec-c success ""',
      'shown · result x success "Script completed\\n"',
    ]);
    expect(
      outcomesOf(completed("Extension", { id: "y", action: { type: "openPage", url: "https://a.test" } })),
    ).toEqual([
      'shown · call y web_search {"type":"openPage","url":"https://a.test"} · result y success "" {"type":"web_search","query":"https://a.test","results":[]}',
    ]);
  });

  it("is part of the answer that requested it", () => {
    expect(
      frames("message.start", says("a"), item({ type: "web_search_call", id: "w" }), says("b")),
    ).toHaveLength(1);
    expect(frames("message.start", says("a"), call("x", {}), output("y"), says("b"))).toHaveLength(2);
  });
});

describe("an image that the model made", () => {
  const image = (payload: object) => item({ type: "image_generation_call", id: "i", ...payload });

  it.each([
    [{ result: "QUE=" }, "data:image/png;base64,QUE="],
    [{ result: "https://a.test/x.png" }, "https://a.test/x.png"],
    [{ result: "http://a.test/x.png" }, "http://a.test/x.png"],
    [{ result: "data:image/webp;base64,QQ==" }, "data:image/webp;base64,QQ=="],
    [{ result: "no https://a.test" }, "data:image/png;base64,no https://a.test"],
  ])("is shown from its URL or data: %j", (payload, url) => {
    const [result] = account(image(payload)).parts.filter(({ type }) => type === "tool_result");
    expect(result).toMatchObject({ parts: [{ type: "image_url", url }] });
  });

  it("is a file if it was saved, and omitted if it is empty", () => {
    expect(outcomesOf(image({ saved_path: "/a.png", result: "QUE=", revised_prompt: "a cat" }))).toEqual([
      'shown · call i image_generation {"prompt":"a cat"} · result i success "a cat" [{"type":"image_file","file_path":"/a.png"}]',
    ]);
    expect(outcomesOf(image({ status: "failed" }))).toEqual([
      'shown · call i image_generation {} · result i error ""',
    ]);
    expect(outcomesOf(item({ type: "image_generation_call", result: "QUE=" }))).toEqual([
      'shown · call line-80 image_generation {} · result line-80 success "" [{"type":"image_url","url":"data:image/png;base64,QUE="}]',
    ]);
  });

  it("is shown once if both an event and an item record it", () => {
    const ended = event("image_generation_end", { call_id: "i", saved_path: "/a.png" });
    expect(outcomesOf(ended, image({ result: "QUE=", status: "completed" }))).toEqual([
      "folded into call i",
      'shown · call i image_generation {} · result i success "" [{"type":"image_file","file_path":"/a.png"}]',
    ]);
    expect(outcomesOf(image({ result: "QUE=" }), ended)).toEqual([
      'shown · call i image_generation {} · result i success "" [{"type":"image_url","url":"data:image/png;base64,QUE="}]',
      "folded into call i",
    ]);
    expect(outcomesOf(image({ result: "QUE=" }), image({ result: "QUE=" }))).toEqual([
      'shown · call i image_generation {} · result i success "" [{"type":"image_url","url":"data:image/png;base64,QUE="}]',
      "folded into call i",
    ]);
    expect(
      outcomesOf(
        completed("ImageGeneration", { id: "i", revised_prompt: "a dog", result: "QUE=" }),
        says("x"),
      ),
    ).toEqual([
      'shown · call i image_generation {"prompt":"a dog"} · result i success "a dog" [{"type":"image_url","url":"data:image/png;base64,QUE="}]',
      'shown · text "x"',
    ]);
    expect(outcomesOf(event("image_generation_end", { result: "QUE=" }))).toEqual([
      'shown · call line-80 image_generation {} · result line-80 success "" [{"type":"image_url","url":"data:image/png;base64,QUE="}]',
    ]);
  });

  it("is merged with its call if its end item comes first", () => {
    expect(
      outcomesOf(
        completed("ImageGeneration", { id: "i", saved_path: "/a.png" }),
        image({ status: "completed" }),
      ),
    ).toEqual([
      "folded into call i",
      'shown · call i image_generation {} · result i success "" [{"type":"image_file","file_path":"/a.png"}]',
    ]);
  });
});

describe("a dynamic tool of the client", () => {
  const response = (payload: object) => event("dynamic_tool_call_response", { call_id: "d", ...payload });
  const content_items = [{ type: "inputText", text: "hi" }];

  it("is shown from its response, merged with its request", () => {
    expect(
      outcomesOf(
        event("dynamic_tool_call_request", { callId: "d", tool: "t", arguments: { a: 1 } }),
        response({ tool: "t", arguments: { a: 1 }, content_items }),
      ),
    ).toEqual(['shown · call d t {"a":1}', 'shown · result d success "hi"']);
    // Requested, but never answered.
    expect(outcomesOf(event("dynamic_tool_call_request", { callId: "d", tool: "t" }))).toEqual([
      "shown · call d t {}",
    ]);
    expect(outcomesOf(response({ content_items, success: false }))).toEqual([
      'shown · call d dynamic_tool {} · result d error "hi"',
    ]);
    expect(outcomesOf(event("dynamic_tool_call_request", { callId: "d", content_items }))).toEqual([
      'shown · call d dynamic_tool {} · result d success "hi"',
    ]);
    expect(
      outcomesOf(completed("DynamicToolCall", { id: "d", tool: "t", content_items, success: true })),
    ).toEqual(['shown · call d t {} · result d success "hi"']);
    expect(outcomesOf(event("dynamic_tool_call_response", { content_items }))).toEqual([
      'shown · call line-80 dynamic_tool {} · result line-80 success "hi"',
    ]);
    expect(
      outcomesOf(
        completed("DynamicToolCall", { id: "d", tool: "t", status: "failed", error: "shop is closed" }),
        completed("DynamicToolCall", { id: "e", tool: "t", success: false, error: { message: "No" } }),
        completed("DynamicToolCall", { id: "f", tool: "t", status: "completed" }),
      ),
    ).toEqual([
      'shown · call d t {} · result d error "shop is closed"',
      'shown · call e t {} · result e error "No"',
      'shown · call f t {} · result f success ""',
    ]);
  });

  it("marks its call as failed if it failed", () => {
    expect(outcomesOf(call("t", {}, "d"), response({ success: false }), output("x", "d"))).toEqual([
      "shown · call d t {}",
      "folded into call d",
      'shown · result d error "x"',
    ]);
    expect(outcomesOf(call("t", {}, "d"), response({ success: true }), output("x", "d")).at(-1)).toEqual(
      'shown · result d success "x"',
    );
    const cell = item({ type: "custom_tool_call", call_id: "cell", name: "exec", input: "a" });
    const inner = event("dynamic_tool_call_response", { call_id: "exec-d", success: false });
    expect(outcomesOf(cell, inner, output("x", "cell"))).toEqual([
      "shown · call cell exec a",
      "folded into call cell",
      'shown · result cell success "x"',
    ]);
  });
});

describe("an event about a call", () => {
  it("adds nothing to a known call, and creates an unknown one", () => {
    expect(
      outcomesOf(
        call("view_image", { path: "/a" }),
        event("view_image_tool_call", { call_id: "c", path: "/a" }),
      ),
    ).toEqual(['shown · call c view_image {"path":"/a"}', "folded into call c"]);
    // Inside a code cell, whose card does not show it.
    const cell = item({ type: "custom_tool_call", call_id: "x", name: "exec", input: "look()" });
    expect(outcomesOf(cell, completed("ImageView", { id: "exec-1", path: "/a" }), output("ok", "x"))).toEqual(
      [
        "shown · call x exec look()",
        'shown · call exec-1 view_image {"path":"/a"} · result exec-1 success "" {"type":"read","path":"/a"}',
        'shown · result x success "ok"',
      ],
    );
    expect(outcomesOf(event("view_image_tool_call", { call_id: "v", id: "w", path: "/a" }))).toEqual([
      'shown · call v view_image {"path":"/a"} · result v success "" {"type":"read","path":"/a"}',
    ]);
    expect(outcomesOf(completed("ImageView", { id: "v", path: "/a" }))).toEqual([
      'shown · call v view_image {"path":"/a"} · result v success "" {"type":"read","path":"/a"}',
    ]);
    expect(
      outcomesOf(
        ...[
          "collab_agent_interaction_end",
          "collab_waiting_end",
          "collab_close_end",
          "collab_resume_end",
        ].map((type) => event(type, { call_id: type, n: 1 })),
      ),
    ).toEqual([
      'shown · call collab_agent_interaction_end collab_agent_interaction {"n":1} · result collab_agent_interaction_end success ""',
      'shown · call collab_waiting_end collab_waiting {"n":1} · result collab_waiting_end success ""',
      'shown · call collab_close_end collab_close {"n":1} · result collab_close_end success ""',
      'shown · call collab_resume_end collab_resume {"n":1} · result collab_resume_end success ""',
    ]);
  });
});

describe("a sub-agent", () => {
  const spawn = (input: object = { message: "count" }) => call("spawn_agent", input);

  it("is linked by the output of its call", () => {
    expect(outcomesOf(spawn(), output({ agent_id: KID, nickname: "Bohr" }))).toEqual([
      'shown · call c spawn_agent {"message":"count"} {"session_id":"01a00000-0000-7000-8000-00000000000c","name":"Bohr","task":"count"}',
      'shown · result c success "{\\"agent_id\\":\\"01a00000-0000-7000-8000-00000000000c\\",\\"nickname\\":\\"Bohr\\"}" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","name":"Bohr","task":"count"}',
    ]);
    expect(outcomesOf(spawn(), output(JSON.stringify({ thread_id: KID })))).toEqual([
      'shown · call c spawn_agent {"message":"count"} {"session_id":"01a00000-0000-7000-8000-00000000000c","task":"count"}',
      'shown · result c success "{\\"thread_id\\":\\"01a00000-0000-7000-8000-00000000000c\\"}" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","task":"count"}',
    ]);
    expect(outcomesOf(spawn({ prompt: "p" }), output('{"task_name":"/root/counter"}'))).toEqual([
      'shown · call c spawn_agent {"prompt":"p"}',
      'shown · result c success "{\\"task_name\\":\\"/root/counter\\"}" {"type":"sub_agent","agent_key":"/root/counter","name":"counter","task":"p"}',
    ]);
    expect(outcomesOf(spawn(), output('{"agent_path":"/root/x"}'))).toEqual([
      'shown · call c spawn_agent {"message":"count"}',
      'shown · result c success "{\\"agent_path\\":\\"/root/x\\"}" {"type":"sub_agent","agent_key":"/root/x","name":"x","task":"count"}',
    ]);
    expect(outcomesOf(spawn(), output("no JSON"))).toEqual([
      'shown · call c spawn_agent {"message":"count"}',
      'shown · result c success "no JSON" {"type":"sub_agent","task":"count"}',
    ]);
  });

  it("is linked by the event of its start, which may come first", () => {
    const started = event("collab_agent_spawn_end", {
      call_id: "c",
      new_thread_id: KID,
      new_agent_nickname: "Bohr",
      status: "running",
    });
    expect(outcomesOf(spawn(), started, output("{}"))).toEqual([
      'shown · call c spawn_agent {"message":"count"} {"session_id":"01a00000-0000-7000-8000-00000000000c","name":"Bohr","task":"count"}',
      "folded into call c",
      'shown · result c success "{}" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","name":"Bohr","task":"count","status":"running"}',
    ]);
    expect(outcomesOf(started)).toEqual([
      'shown · call c spawn_agent {"new_thread_id":"01a00000-0000-7000-8000-00000000000c","new_agent_nickname":"Bohr","status":"running"} · result c success "" {"type":"sub_agent"}',
    ]);
    expect(outcomesOf(event("collab_agent_spawn_end", { new_thread_id: KID }))).toEqual([
      'shown · call line-80 spawn_agent {"new_thread_id":"01a00000-0000-7000-8000-00000000000c"} · result line-80 success "" {"type":"sub_agent"}',
    ]);
  });

  it("is linked by the item of its call", () => {
    const collab = (payload: object = {}) =>
      completed("CollabAgentToolCall", {
        id: "c",
        tool: "spawn",
        receiver_thread_ids: [KID],
        receiver_agents: [{ agent_nickname: "Bohr" }],
        ...payload,
      });
    expect(outcomesOf(spawn(), output("ok"), collab())).toEqual([
      'shown · call c spawn_agent {"message":"count"} {"session_id":"01a00000-0000-7000-8000-00000000000c","name":"Bohr","task":"count"}',
      'shown · result c success "ok" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","name":"Bohr","task":"count"}',
      "folded into call c",
    ]);
    expect(outcomesOf(spawn(), output("ok"), collab({ status: "failed" })).at(1)).toEqual(
      'shown · result c success "ok" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","name":"Bohr","task":"count"}',
    );
    expect(outcomesOf(call("wait", {}), output("ok"), collab({ status: "failed" }))).toEqual([
      "shown · call c wait {}",
      'shown · result c success "ok"',
      "folded into call c",
    ]);
    expect(outcomesOf(collab())).toEqual([
      'shown · call c spawn {"tool":"spawn","receiver_thread_ids":["01a00000-0000-7000-8000-00000000000c"],"receiver_agents":[{"agent_nickname":"Bohr"}]} · result c success ""',
    ]);
    expect(outcomesOf(collab({ tool: undefined, id: undefined }))).toEqual([
      'shown · call line-80 collab {"receiver_thread_ids":["01a00000-0000-7000-8000-00000000000c"],"receiver_agents":[{"agent_nickname":"Bohr"}]} · result line-80 success ""',
    ]);
  });

  it("is linked by its activity, by the call or by the thread", () => {
    const activity = (payload: object) => event("sub_agent_activity", { event_id: "c", ...payload });
    expect(
      outcomesOf(
        spawn(),
        output("ok"),
        activity({ agent_thread_id: KID, agent_path: "/root/counter", kind: "started" }),
      ),
    ).toEqual([
      'shown · call c spawn_agent {"message":"count"} {"session_id":"01a00000-0000-7000-8000-00000000000c","name":"counter","task":"count"}',
      'shown · result c success "ok" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","name":"counter","task":"count"}',
      "folded into call c",
    ]);
    expect(outcomesOf(activity({ agent_thread_id: KID }))).toEqual(["hidden: sub-agent activity"]);
    expect(
      outcomesOf(spawn(), event("sub_agent_activity", { call_id: "c", agent_thread_id: KID }), output("ok")),
    ).toEqual([
      'shown · call c spawn_agent {"message":"count"} {"session_id":"01a00000-0000-7000-8000-00000000000c","task":"count"}',
      "folded into call c",
      'shown · result c success "ok" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","task":"count"}',
    ]);
    expect(outcomesOf(call("wait", {}), output("ok"), activity({ agent_thread_id: KID }))).toEqual([
      "shown · call c wait {}",
      'shown · result c success "ok"',
      "folded into call c",
    ]);
    expect(
      outcomesOf(spawn(), output("ok"), completed("SubAgentActivity", { id: "c", agent_thread_id: KID })),
    ).toEqual([
      'shown · call c spawn_agent {"message":"count"} {"session_id":"01a00000-0000-7000-8000-00000000000c","task":"count"}',
      'shown · result c success "ok" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","task":"count"}',
      "folded into call c",
    ]);
  });

  it.each([
    ["completed", "completed"],
    ["errored", "failed"],
    ["shutdown", "interrupted"],
    ["interrupted", "interrupted"],
    ["running", undefined],
  ])("whose activity is %s ends as %s", (kind, status) => {
    const ends = frames(
      "task.finish",
      spawn(),
      output({ agent_id: KID }),
      event("sub_agent_activity", { event_id: "later", agent_thread_id: KID, kind }),
    );
    expect(ends).toEqual(
      status === undefined
        ? []
        : [{ type: "task.finish", session_id: THREAD, at: 0, tool_call_id: "c", status }],
    );
  });

  it("is named by later calls to it, by its thread and by its path", () => {
    const later = (input: object, name = "send_input") =>
      outcomesOf(
        spawn(),
        output({ agent_id: KID, nickname: "Bohr", task_name: "/root/b" }),
        call(name, input, "d"),
        output("ok", "d"),
      ).at(-1);
    expect(later({ target: KID, message: "more" })).toEqual(
      'shown · result d success "ok" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","name":"Bohr","task":"more"}',
    );
    expect(later({ id: KID })).toEqual(
      'shown · result d success "ok" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","name":"Bohr"}',
    );
    expect(later({ target: "/root/b" }, "followup_task")).toEqual(
      'shown · result d success "ok" {"type":"sub_agent","agent_key":"/root/b","session_id":"01a00000-0000-7000-8000-00000000000c","name":"Bohr"}',
    );
    expect(later({ target: "other" })).toEqual(
      'shown · result d success "ok" {"type":"sub_agent","agent_key":"other","name":"other"}',
    );
    expect(later({ target: KID }, "wait")).toEqual('shown · result d success "ok"');
    expect(later({})).toEqual('shown · result d success "ok" {"type":"sub_agent"}');
  });

  it("is linked by the digits of a numeric id", () => {
    expect(outcomesOf(spawn({ message: 5 }), output({ agent_id: KID }))).toEqual([
      'shown · call c spawn_agent {"message":5} {"session_id":"01a00000-0000-7000-8000-00000000000c","task":"5"}',
      'shown · result c success "{\\"agent_id\\":\\"01a00000-0000-7000-8000-00000000000c\\"}" {"type":"sub_agent","agent_key":"01a00000-0000-7000-8000-00000000000c","session_id":"01a00000-0000-7000-8000-00000000000c","task":"5"}',
    ]);
  });

  it("is linked once, even if several records do", () => {
    const starts = frames(
      "task.start",
      spawn(),
      output({ agent_id: KID, nickname: "Bohr" }),
      event("collab_agent_spawn_end", { call_id: "c", new_thread_id: KID }),
      event("sub_agent_activity", { event_id: "c", agent_path: "/root/b" }),
    );
    expect(starts).toEqual([
      {
        type: "task.start",
        session_id: THREAD,
        at: 0,
        tool_call_id: "c",
        sub_agent: { session_id: KID, name: "Bohr", task: "count" },
      },
    ]);
    expect(frames("task.start", spawn({}), output({ agent_id: "no-uuid" }))).toEqual([]);
    expect(frames("task.start", spawn({}), output({ agent_id: KID }))).toEqual([
      { type: "task.start", session_id: THREAD, at: 0, tool_call_id: "c", sub_agent: { session_id: KID } },
    ]);
  });

  it("links its file to its call", () => {
    const { reader } = accountOfLines(
      meta(),
      user("go"),
      call("spawn_agent", { message: "count" }, "a"),
      output({ agent_id: KID }, "a"),
      call("spawn_agent", {}, "b"),
      call("send_input", { message: "no run" }, "d"),
    );
    expect(reader.linkFacts()).toEqual({
      sessions: [
        {
          session_id: THREAD,
          group: THREAD,
          calls: [
            { tool_call_id: "a", at: 0, prompt: "count", agent_key: KID },
            { tool_call_id: "b", at: 0 },
          ],
        },
      ],
    });
  });

  it("sends messages, receives answers, and reports its result", () => {
    const letter = (text: string, payload: object = {}) =>
      item({
        type: "agent_message",
        author: "/root/b",
        recipient: "/root",
        content: [{ type: "input_text", text }],
        ...payload,
      });
    const linked = [user("go"), spawn(), output({ agent_id: KID, task_name: "/root/b" })];
    expect(
      outcomesOf(
        ...linked,
        letter("Message Type: FINAL_ANSWER\nTask name: x\nSender: y\nPayload:\n42 lines"),
        letter("Message Type: NEW_TASK\nPayload:\nand now count b"),
        letter("plain words", { author: undefined }),
        letter("Message Type: MESSAGE\nPayload: inline"),
      ).slice(3),
    ).toEqual([
      'shown · [notification] Answer from /root/b "42 lines"',
      'shown · prompt (agent) [{"type":"text","text":"and now count b"}]',
      'shown · [notification] Message from another agent "plain words"',
      'shown · [notification] Message from /root/b "inline"',
    ]);
    expect(outcomesOf(letter("first of all", { author: undefined }))).toEqual([
      'shown · prompt (agent) [{"type":"text","text":"first of all"}]',
    ]);
    expect(frames("task.finish", ...linked, letter("Message Type: FINAL_ANSWER\nPayload:\n42"))).toHaveLength(
      1,
    );
    expect(frames("task.finish", ...linked, letter("Message Type: MESSAGE\nPayload:\n42"))).toHaveLength(0);
  });

  it("is the sender of messages in its own file", () => {
    const letter = (author: string, recipient?: string) =>
      item({ type: "agent_message", author, recipient, content: "done" });
    const child = meta({
      agent_path: "/root/b",
      source: { subagent: { thread_spawn: { parent_thread_id: KID } } },
    });
    expect(
      accountOfLines(
        child,
        letter("/root/b", "/root"),
        letter("/root/b"),
        letter("/root/b", "/root/b"),
        says("x"),
        letter("/root", "/root/b"),
      ).outcomes,
    ).toEqual([
      "folded into the session",
      'shown · [notification] Message to /root "done"',
      'shown · [notification] Message to another agent "done"',
      'shown · prompt (agent) [{"type":"text","text":"done"}]',
      'shown · text "x"',
      'shown · [notification] Message from /root "done"',
    ]);
  });

  it("is reported by a notification with name, state and answer", () => {
    const notice = (value: unknown) =>
      user(
        `<subagent_notification>\n${typeof value === "string" ? value : JSON.stringify(value)}\n</subagent_notification>`,
      );
    const linked = [spawn(), output({ agent_id: KID, nickname: "Bohr" })];
    const last = (value: unknown) => outcomesOf(...linked, notice(value), says("x")).at(2);
    expect(last({ agent_path: KID, status: { completed: "42" } })).toEqual(
      'shown · [notification] Sub-agent Bohr completed "42"',
    );
    expect(last({ agent_id: "unknown", status: "errored" })).toEqual(
      'shown · [notification] Sub-agent unknown errored "<subagent_notification>\\n{\\"agent_id\\":\\"unknown\\",\\"status\\":\\"errored\\"}\\n</subagent_notification>"',
    );
    expect(last({ status: {} })).toEqual(
      'shown · [notification] Sub-agent reported "<subagent_notification>\\n{\\"status\\":{}}\\n</subagent_notification>"',
    );
    expect(last("no JSON")).toEqual(
      'shown · [notification] Sub-agent reported "<subagent_notification>\\nno JSON\\n</subagent_notification>"',
    );
    // With any number of blanks: quadratic time would be half a minute.
    const blank = " ".repeat(100_000);
    expect(last({ agent_path: KID, status: { completed: `4${blank}2` } })).toEqual(
      `shown · [notification] Sub-agent Bohr completed "4${blank}2"`,
    );
    expect(
      frames("task.finish", ...linked, notice({ agent_id: KID, status: { errored: "x" } }), says("x")),
    ).toMatchObject([{ status: "failed" }]);
  });

  it("is linked to the call with its prompt, among several", () => {
    const { reader } = account(
      call("spawn_agent", { prompt: "p" }, "a"),
      call("spawn_agent", { message: "m" }, "b"),
      output({ agent_id: KID }, "b"),
    );
    expect(reader.linkFacts().sessions[0]?.calls).toEqual([
      { tool_call_id: "a", at: 0, prompt: "p" },
      { tool_call_id: "b", at: 0, prompt: "m", agent_key: KID },
    ]);
  });
});

describe("a code cell", () => {
  const cell = (input = "tools.exec_command()", call_id = "x") =>
    item({ type: "custom_tool_call", call_id, name: "exec", input });
  const printed = (...texts: string[]) =>
    item({
      type: "custom_tool_call_output",
      call_id: "x",
      output: ["Script completed\nWall time 0.3 seconds\nOutput:\n", ...texts].map((text) => ({
        type: "input_text",
        text,
      })),
    });
  const shell = (exit_code: number | undefined, more: object = {}) =>
    JSON.stringify({
      chunk_id: "ff",
      wall_time_seconds: 0.07,
      ...(exit_code === undefined ? { session_id: 7 } : { exit_code }),
      original_token_count: 3,
      output: 'said {"exit_code":9}\n',
      ...more,
    });
  const results = (...lines: object[]) =>
    account(...lines).parts.flatMap((part) =>
      part.type === "tool_result"
        ? [[part.status, part.ui_extra?.type === "shell" ? part.ui_extra.exit_code : undefined]]
        : [],
    );

  it.each<[string, string[], unknown[]]>([
    ["one command that failed", [shell(101)], ["error", 101]],
    ["one that succeeded", [shell(0)], ["success", 0]],
    ["one that still runs", [shell(undefined)], ["success", undefined]],
    ["several, of which one failed", [shell(0), shell(2), shell(0)], ["error", 2]],
    ["a list of results", [`[${shell(0)},${shell(3)}]`], ["error", 3]],
    ["settled promises", [`[{"status":"fulfilled","value":${shell(4)}}]`], ["error", 4]],
    ["a truncated result", [shell(1).slice(0, 90)], ["error", 1]],
    [
      "a truncated result with a note",
      [
        `Warning: truncated output (original token count: 99)\nTotal output lines: 1\n\n${shell(5).slice(0, 90)}`,
      ],
      ["error", 5],
    ],
    ["a result after other text", ["{}", shell(6)], ["error", 6]],
    ["only the output", ["error: no library targets\n"], ["success", undefined]],
    ["text of the command itself", ['exit_code: 101, {"exit_code":101}'], ["success", undefined]],
    ["another's JSON", ['{"exit_code":101,"output":"x"}'], ["success", undefined]],
    ["half a list", [`[${shell(0)},${shell(3)}`], ["success", undefined]],
  ])("fails if its script prints the failure of an inner command: %s", (_, texts, expected) => {
    expect(results(cell(), printed(...texts))).toEqual([expected]);
  });

  it("fails equally with a plain text output, and when a later call polls it", () => {
    expect(
      results(cell(), output(`Script completed\nWall time 0.3 seconds\nOutput:\n${shell(101)}`, "x")),
    ).toEqual([["error", 101]]);
    const running = output("Script running with cell ID 4\nWall time 0.5 seconds\nOutput:\n", "x");
    const wait = call("wait", { cell_id: "4" }, "w");
    const ended = output(`Script completed\nWall time 1 seconds\nOutput:\n${shell(2)}`, "w");
    expect(results(cell(), running, wait, ended)).toEqual([
      ["success", undefined],
      ["error", 2],
    ]);
  });

  it("fails by an event before or after its output, unless it was terminated", () => {
    const ended = (exit_code: number) =>
      completed("CommandExecution", { id: "exec-1", command: "make", exit_code, status: "failed" });
    const done = output("Script completed\nOutput:\nok", "x");
    expect(results(cell(), ended(2), done)).toEqual([["error", 2]]);
    expect(results(cell(), done, ended(2))).toEqual([["error", 2]]);
    expect(results(cell(), done, ended(-1))).toEqual([["success", undefined]]);
  });

  it("is distinguished from other tools with similar output", () => {
    expect(results(call("read", {}), output(shell(101)))).toEqual([["success", undefined]]);
  });
});

describe("a shell command of the user", () => {
  const outcomesOf = (...lines: object[]) => account(...lines).outcomes;
  const started = event("task_started", { turn_id: "t" });
  const done = event("task_complete", { turn_id: "t" });
  const ran = (more: object = {}) =>
    completed("CommandExecution", {
      id: "u",
      command: ["/bin/bash", "-lc", "cargo test"],
      source: "user_shell",
      aggregated_output: "two\nlines\n",
      exit_code: 101,
      duration: { secs: 1, nanos: 500_000_000 },
      cwd: "file:///w",
      ...more,
    });
  const fragment = (command = "cargo test") =>
    user(
      `<user_shell_command>\n<command>\n${command}\n</command>\n<result>\nExit code: 101\nDuration: 1.5000 seconds\nOutput:\ntwo\nlines\n</result>\n</user_shell_command>`,
    );

  it("is a prompt with its output, from an event and a message", () => {
    const shown =
      'shown · prompt (command) [{"type":"text","text":"! cargo test"}] · [note] Shell output (exit code 101): two "```\\ntwo\\nlines\\n```" {"exit_code":101,"duration_ms":1500';
    for (const lines of [
      [ran(), fragment()],
      [fragment(), ran()],
    ]) {
      const [first, second] = outcomesOf(started, ...lines, done).slice(1);
      expect(first).toContain(shown);
      expect(second).toBe("folded into the person's command");
    }
    // A file without events has only the message.
    expect(outcomesOf(fragment())[0]).toContain(shown);
  });

  it("counts neither as a step nor as a call, and ends its turn", () => {
    const { transcript } = account(started, ran(), fragment(), done);
    expect(transcript.turns.at(0)).toMatchObject({
      title: "! cargo test",
      status: "completed",
      steps: 0,
      tool_calls: 0,
      errors: 0,
    });
    const turns = account(fragment("ls"), fragment("pwd"), user("go"), says("x")).transcript.turns.slice();
    expect(turns.map((turn) => [turn?.title, turn?.status])).toEqual([
      ["! ls", "completed"],
      ["! pwd", "completed"],
      ["go", "completed"],
    ]);
  });

  it("is in the turn in which it ran, once per run", () => {
    const prompts = account(
      started,
      user("go"),
      event("user_message", { message: "go" }),
      says("I look."),
      ran({ command: "ls" }),
      fragment("ls"),
      ran({ command: "ls" }),
      fragment("ls"),
      says("Done."),
      done,
    ).parts.flatMap((part) => (part.type === "prompt" ? [[part.origin, part.queued]] : []));
    expect(prompts).toEqual([
      [undefined, undefined],
      ["command", true],
      ["command", true],
    ]);
  });

  it("shows its unchanged output, or that it had none", () => {
    const lines = (more: object) =>
      outcomesOf(ran({ exit_code: 0, duration: undefined, cwd: undefined, ...more }));
    expect(lines({ aggregated_output: "a ``` b" })).toEqual([
      'shown · prompt (command) [{"type":"text","text":"! cargo test"}] · [note] Shell output: a ``` b "````\\na ``` b\\n````" {"exit_code":0}',
    ]);
    expect(lines({ aggregated_output: "" })).toEqual([
      'shown · prompt (command) [{"type":"text","text":"! cargo test"}] · [note] Shell output: none {"exit_code":0}',
    ]);
    expect(outcomesOf(user("<user_shell_command>echo 42</user_shell_command>"))).toEqual([
      'shown · prompt (command) [{"type":"text","text":"! echo 42"}] · [note] Shell output: none',
    ]);
  });

  it("does not count as a turn in a rollback", () => {
    const { transcript } = account(
      started,
      user("go"),
      event("user_message", { message: "go" }),
      says("x"),
      done,
      event("task_started", { turn_id: "s" }),
      ran(),
      event("task_complete", { turn_id: "s" }),
      event("thread_rolled_back", { num_turns: 1 }),
    );
    expect(transcript.turns.slice().map((turn) => turn?.retracted)).toEqual(["Rolled back", undefined]);
  });
});

it("shows a pause of the agent as a muted line", () => {
  expect(
    outcomesOf(
      completed("Sleep", { id: "s", duration_ms: 1500 }),
      completed("Sleep", { id: "s", duration_ms: 60_000, reason: "CI" }),
      completed("Sleep", { id: "s" }),
    ),
  ).toEqual(["shown · [note] Slept 1.5 s", 'shown · [note] Slept 60 s "CI"', "shown · [note] Slept"]);
});
