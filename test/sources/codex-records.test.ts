import { describe, expect, it } from "vitest";
import { account, call, completed, event, item, output, says, user } from "./codex-support.ts";

// Records of versions from 2026 that have a meaning of their own.

const outcomesOf = (...lines: (object | string)[]) => account(...lines).outcomes;
const record = (type: string, payload: object) => ({ type, payload });

describe("messages between agents", () => {
  const communication = (payload: object) => record("inter_agent_communication", payload);

  it("are shown if a separate record is the only one", () => {
    expect(
      outcomesOf(
        user("go"),
        says("ok"),
        communication({ author: "/root/a", recipient: "/root", content: "found it", trigger_turn: false }),
        communication({ author: "/root/a", recipient: "/root", content: "", encrypted_content: "Zz9" }),
      ).slice(2),
    ).toEqual([
      'shown · [notification] Message from /root/a "found it"',
      'shown · [notification] Message from /root/a "(encrypted)"',
    ]);
  });

  it("begin the turn of an agent that was not asked before", () => {
    expect(outcomesOf(communication({ author: "/root", recipient: "/root/a", content: "look" }))).toEqual([
      'shown · prompt (agent) [{"type":"text","text":"look"}]',
    ]);
  });
});

describe("a voice conversation", () => {
  const realtime = (payload: object) =>
    record("realtime_item", { id: "r", realtime_session_id: "v", ...payload });

  it("is shown with what both said", () => {
    expect(
      outcomesOf(
        realtime({ type: "realtime_session_started" }),
        realtime({ type: "transcript_segment", role: "user", text: "open the file" }),
        realtime({ type: "transcript_segment", role: "assistant", text: "done" }),
        realtime({ type: "bem_item_promoted", turn_id: "t", item_id: "i", presentation: "whole_item" }),
        realtime({ type: "realtime_session_closed", outcome: "failed" }),
        realtime({ type: "later" }),
      ),
    ).toEqual([
      "shown · [note] Voice conversation started",
      'shown · [note] Said by the user "open the file"',
      'shown · [note] Said by the assistant "done"',
      "hidden: item repeated by voice",
      "shown · [note] Voice conversation failed",
      'unknown · unknown realtime_item {"type":"realtime_item","payload":{"id":"r","realtime_session_id":"v","type":"later"}}',
    ]);
  });
});

describe("records without content", () => {
  it("are hidden", () => {
    expect(
      outcomesOf(
        record("security_risk_score", { scores: { a: 0.5 } }),
        item({ type: "configuration_update", reasoning: { effort: "high" } }),
      ),
    ).toEqual(["hidden: security risk score", "hidden: configuration update"]);
  });
});

describe("an output that a program adds without a call", () => {
  const pushed = { type: "function_call_output", id: "o", name: "watcher", output: "built" };

  it("names its tool, and is shown once although an item repeats it", () => {
    const lines = [
      item(pushed),
      completed("FunctionCallOutput", { id: "o", name: "watcher", output: "built" }),
    ];
    expect(outcomesOf(...lines)).toEqual(['shown · result o success "built"', "folded into call o"]);
    expect(account(...lines).parts).toMatchObject([{ type: "tool_result", tool_name: "watcher" }]);
    expect(outcomesOf(...lines.toReversed())).toEqual([
      'shown · result o success "built"',
      "folded into call o",
    ]);
  });
});

describe("a review in completed items", () => {
  it("has its target and findings", () => {
    expect(
      outcomesOf(
        completed("EnteredReviewMode", {
          id: "a",
          target: { type: "custom" },
          user_facing_hint: "the branch",
        }),
        completed("ExitedReviewMode", {
          id: "b",
          review_output: { overall_explanation: "Fine.", findings: [{ title: "A", body: "a" }] },
        }),
      ),
    ).toEqual([
      'shown · [note] Review: the branch {"type":"custom"}',
      'shown · [note] Review finished "Fine.\\n\\n- A\\n  a" {"overall_explanation":"Fine.","findings":[{"title":"A","body":"a"}]}',
    ]);
  });
});

describe("actions of extensions", () => {
  const extension = (payload: Record<string, unknown>) => completed("Extension", payload);

  it("show an image that was generated", () => {
    expect(
      outcomesOf(
        extension({
          kind: "image_gen.generation",
          id: "g",
          status: "completed",
          revisedPrompt: "a fox",
          result: "QUE=",
          savedPath: "/fox.png",
        }),
        extension({ kind: "image_gen.image_generation", id: "h", payload: { status: "failed", result: "" } }),
      ),
    ).toEqual([
      'shown · call g image_generation {"prompt":"a fox"} · result g success "a fox" [{"type":"image_file","file_path":"/fox.png"}]',
      'shown · call h image_generation {} · result h error ""',
    ]);
  });

  it("show a pause, once", () => {
    const pause = extension({ kind: "clock.sleep", id: "s", durationMs: 20_000 });
    expect(outcomesOf(pause)).toEqual(["shown · [note] Slept 20 s"]);
    expect(outcomesOf(call("sleep", { duration_ms: 20_000 }, "s"), pause, output("ok", "s"))).toEqual([
      'shown · call s sleep {"duration_ms":20000}',
      "folded into call s",
      'shown · result s success "ok"',
    ]);
    expect(
      outcomesOf(call("sleep", {}, "s"), completed("Sleep", { id: "s", duration_ms: 1 })).slice(1),
    ).toEqual(["folded into call s"]);
  });
});

describe("paths in the form of a URL", () => {
  it("are decoded", () => {
    const ran = (cwd: string) =>
      completed("CommandExecution", { id: "c", command: ["ls"], cwd, status: "completed", exit_code: 0 });
    const folderOf = (cwd: string) => /"cwd":"((?:[^"\\]|\\.)*)"/.exec(outcomesOf(ran(cwd)).join())?.[1];
    expect(folderOf("file:///home/a%20b/c")).toBe("/home/a b/c");
    expect(folderOf("file:///C:/a%20b")).toBe("C:/a b");
    expect(folderOf("file://server/share/a")).toBe("//server/share/a");
    expect(folderOf("file:///home/100%")).toBe("/home/100%");
    expect(folderOf("/home/a%20b")).toBe("/home/a%20b");
    expect(outcomesOf(completed("ImageView", { id: "v", path: "file:///tmp/a%20b.png" }))).toEqual([
      'shown · call v view_image {"path":"/tmp/a b.png"} · result v success "" {"type":"read","path":"/tmp/a b.png"}',
    ]);
  });
});

describe("audio and encrypted content", () => {
  it("is shown in prompts and outputs", () => {
    const audio = "data:audio/wav;base64,QUE=";
    expect(
      outcomesOf(
        item({ type: "message", role: "user", content: [{ type: "input_audio", audio_url: audio }] }),
        completed("UserMessage", { content: [{ type: "local_audio", path: "/a.wav" }] }),
        says("hm"),
        completed("UserMessage", { content: [{ type: "local_audio", path: "C:\\a.wav" }] }),
        call("f", {}),
        output([
          { type: "input_audio", audio_url: audio },
          { type: "encrypted_content", encrypted_content: "Zz9" },
        ]),
      ),
    ).toEqual([
      `shown · prompt [{"type":"file","mime":"audio/wav","url":"${audio}"}]`,
      "folded into the same prompt",
      'shown · text "hm"',
      'shown · prompt [{"type":"file","mime":"audio/*","filename":"a.wav","url":"file:///C:/a.wav"}]',
      "shown · call c f {}",
      `shown · result c success "(encrypted)" [{"type":"file","mime":"audio/wav","url":"${audio}"}]`,
    ]);
  });
});

describe("a prompt of a heartbeat", () => {
  it("was sent on schedule", () => {
    const beat = (text: string) =>
      item({
        type: "message",
        role: "user",
        content: [{ type: "input_text", text }],
        internal_chat_message_metadata_passthrough: { content_item_kinds: ["user.heartbeat"] },
      });
    expect(
      outcomesOf(beat("check the build"), event("user_message", { message: "check the build" })),
    ).toEqual([
      'shown · prompt (schedule) [{"type":"text","text":"check the build"}]',
      "folded into the same prompt",
    ]);
  });
});

describe("a message of a hook under the user's role", () => {
  it("is not a prompt", () => {
    expect(outcomesOf(user('<hook_prompt hook_run_id="h">Go on</hook_prompt>'))).toEqual([
      'shown · [context] Hook "<hook_prompt hook_run_id=\\"h\\">Go on</hook_prompt>"',
    ]);
  });
});
