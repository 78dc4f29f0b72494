import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { crush } from "../../src/sources/crush/format.ts";
import { goose } from "../../src/sources/goose/format.ts";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { openCode } from "../../src/sources/opencode/format.ts";
import { call, createCrush, finish, result, START, text, thought } from "./crush-support.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-crush-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let projects = 0;
const create = () => {
  projects += 1;
  return createCrush(join(folder, `project ${projects}/.crush/crush.db`));
};

function only(sessions: Map<string, FollowedSession>): FollowedSession {
  const [session, ...others] = sessions.values();
  if (session === undefined || others.length > 0) throw new Error(`${sessions.size} sessions`);
  return session;
}

const patchOf = ({ records }: FollowedSession): object =>
  Object.assign(
    {},
    ...records.flatMap(({ frames }) =>
      frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
    ),
  );
const fates = ({ records }: FollowedSession) => records.map(({ disposition }) => disposition.kind);
const statuses = ({ transcript }: ReturnType<typeof closed>) =>
  [...transcript.turns].map((turn) => turn?.status);

const SESSION = "5e6f7a8b-9c0d-4e1f-8a2b-3c4d5e6f7a8b";

describe("a session of Crush", () => {
  it("has thinking, calls with their results, diffs, exits and ends", () => {
    const { path, ...project } = create();
    project.session(SESSION, "Fix the tide table");
    const png = { Path: "tide.png", MIMEType: "image/png", Data: "QQ==" };
    const csv = { Path: "bergen.csv", MIMEType: "text/csv", Data: "Qg==" };
    project.put(SESSION, "u1", "user", [
      text("Fix it"),
      { type: "binary", data: png },
      { type: "binary", data: csv },
    ]);
    project.put(SESSION, "a1", "assistant", [
      thought("Look first.", { signature: "s", started_at: START + 2, finished_at: START + 5 }),
      text("I look."),
      call("c1", "bash", { command: "make", description: "Build" }),
      call("c2", "edit", { file_path: "/w/a", old_string: "1", new_string: "2" }),
      call("c3", "write", { file_path: "/w/b", content: "new" }),
      call("c4", "bash", { command: "rm a" }),
      finish("tool_use"),
    ]);
    const ran = { start_time: 1_000, end_time: 3_500, output: "no\nExit code 2" };
    const output = "no\nExit code 2\n\n<cwd>/w</cwd>";
    project.put(SESSION, "t1", "tool", [result("c1", "bash", output, { metadata: ran })]);
    const edited = { additions: 1, removals: 1, old_content: "x\n1\n", new_content: "x\n2\n" };
    project.put(SESSION, "t2", "tool", [result("c2", "edit", "replaced", { metadata: edited })]);
    const written = { diff: "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+new\n", additions: 1, removals: 0 };
    project.put(SESSION, "t3", "tool", [result("c3", "write", "written", { metadata: written })]);
    project.put(SESSION, "t4", "tool", [result("c4", "bash", "User denied permission", { is_error: true })]);
    project.put(SESSION, "a2", "assistant", [text("Fixed."), finish("end_turn")]);
    const store = openStore(path);
    expect([crush, goose, openCode].filter(({ snapshots }) => snapshots?.recognizes(store))).toEqual([crush]);
    const session = only(look(crush, store));
    expect(patchOf(session)).toMatchObject({
      agent: "crush",
      title: "Fix the tide table",
      cwd: join(path, "../.."),
      model: "tide-1",
      provider: "harbor",
    });
    expect(fates(session)).not.toContain("unknown");
    const all = closed(session);
    expect(all.transcript.session_id).toBe(SESSION);
    expect(orderOf(all.parts)).toBe("U T x c:bash c:edit c:write c:bash- | x");
    expect(statuses(all)).toEqual(["completed"]);
    const prompts = all.parts.flatMap((part) => (part.type === "prompt" ? [part.parts] : []));
    expect(prompts).toEqual([
      [
        { type: "text", text: "Fix it" },
        { type: "image_url", url: "data:image/png;base64,QQ==" },
        { type: "file", mime: "text/csv", url: "data:text/csv;base64,Qg==", filename: "bergen.csv" },
      ],
    ]);
    const results = all.parts.flatMap((part) => (part.type === "tool_result" ? [part] : []));
    expect(results).toMatchObject([
      {
        output_text: "no\nExit code 2",
        ui_extra: { type: "shell", command: "make", exit_code: 2, duration_ms: 2_500 },
      },
      { ui_extra: { files: [{ path: "/w/a", change: "update", additions: 1, deletions: 1 }] } },
      { ui_extra: { files: [{ path: "/w/b", change: "create", additions: 1, deletions: 0 }] } },
      { status: "aborted", outcome: { kind: "refused", by: "person" } },
    ]);
  });

  it("is followed while an answer is written, and its request is sent again", () => {
    const { path, ...project } = create();
    project.session(SESSION, "New Session");
    const store = openStore(path);
    // A session without a message is not listed.
    expect(look(crush, store).size).toBe(0);
    project.put(SESSION, "u1", "user", [text("Go")]);
    project.put(SESSION, "a1", "assistant", []);
    const sessions = look(crush, store);
    const session = only(sessions);
    const textsOf = () =>
      session.records.flatMap(({ frames }) =>
        frames.flatMap((frame) => (frame.type === "message.part_end" ? [frame.text] : [])),
      );
    project.update("a1", [text("It")]);
    look(crush, store, sessions);
    project.update("a1", []);
    look(crush, store, sessions);
    project.update("a1", [text("The")]);
    look(crush, store, sessions);
    project.update("a1", [text("The table"), call("c1", "view", undefined, false)]);
    look(crush, store, sessions);
    const step = [text("The table"), call("c1", "view", { file_path: "/w/a" })];
    project.update("a1", step);
    look(crush, store, sessions);
    project.put(SESSION, "t1", "tool", [
      result("c1", "view", "1;2", { data: "QQ==", mime_type: "image/png" }),
    ]);
    look(crush, store, sessions);
    project.update("a1", [...step, finish("tool_use")]);
    project.put(SESSION, "u2", "user", [text("Faster")]);
    project.put(SESSION, "a2", "assistant", [text("Done."), finish("end_turn")]);
    look(crush, store, sessions);
    expect(textsOf()).toEqual(["It", "The", "The table", "Done."]);
    const all = closed(session);
    expect(orderOf(all.parts)).toBe("U x c:view u | x");
    const images = all.parts.flatMap((part) => (part.type === "tool_result" ? part.parts : []));
    expect(images).toEqual([{ type: "image_url", url: "data:image/png;base64,QQ==" }]);
    expect(statuses(all)).toEqual(["completed"]);
    expect(all.parts.filter((part) => "retracted" in part)).toEqual([]);
    expect(patchOf(session)).not.toHaveProperty("title");
    // Read as a whole, it is the same.
    const again = closed(only(look(crush, store)));
    expect(orderOf(again.parts)).toBe(orderOf(all.parts));
    expect(statuses(again)).toEqual(statuses(all));
  });

  it("shows a stop, a failure and a refusal, commands of the user, and a compaction in a turn", () => {
    const { path, ...project } = create();
    project.session(SESSION, "Tides");
    project.put(SESSION, "u1", "user", [text("Read it")]);
    project.put(SESSION, "a1", "assistant", [
      call("c1", "view", { file_path: "/w/a" }),
      finish("canceled", { message: "User canceled request" }),
    ]);
    project.put(SESSION, "t1", "tool", [
      result("c1", "view", "Error: user cancelled assistant tool calling", { is_error: true }),
    ]);
    project.put(SESSION, "u2", "user", [text("Again")]);
    project.put(SESSION, "a2", "assistant", [
      finish("error", { message: "Provider Error", details: "Overloaded" }),
    ]);
    project.put(SESSION, "u3", "user", [text("Again")]);
    project.put(SESSION, "a3", "assistant", [finish("content_filter")]);
    const shell = { command: "ls", output: "a.csv", exit_code: 1 };
    project.put(SESSION, "u4", "user", [{ type: "shell_command", data: shell }]);
    project.put(SESSION, "u5", "user", [text("Long work")]);
    project.put(SESSION, "a5", "assistant", [call("c5", "ls", { path: "/w" }), finish("tool_use")]);
    project.put(SESSION, "t5", "tool", [result("c5", "ls", "a.csv")]);
    project.put(SESSION, "s5", "assistant", [text("All was read."), finish("end_turn")], true);
    const continues =
      "The previous session was interrupted because it got too long, the initial user request was: `Long work`";
    project.put(SESSION, "u6", "user", [text(continues)]);
    project.put(SESSION, "a6", "assistant", [
      thought("", { responses_data: {} }),
      text("Cut"),
      finish("max_tokens"),
    ]);
    const all = closed(only(look(crush, openStore(path))));
    expect(orderOf(all.parts)).toBe(
      "U c:view- [interrupt] U [error] U [error] U [note] U c:ls [compaction] u | T x",
    );
    expect(statuses(all)).toEqual(["interrupted", "failed", "failed", "completed", "completed"]);
    const errors = all.parts.flatMap((part) =>
      part.type === "marker" && part.kind === "error" ? [part.title] : [],
    );
    expect(errors).toEqual(["Provider Error: Overloaded", "content_filter"]);
  });

  it("links the session of a sub-agent to the call that its id names", () => {
    const { path, ...project } = create();
    project.session(SESSION, "Tides");
    project.session(`a1$$c1`, "New Agent Session", SESSION);
    project.session(`title-${SESSION}`, "Generate a title", SESSION);
    project.put(SESSION, "u1", "user", [text("Look")]);
    project.put(SESSION, "a1", "assistant", [
      call("c0", "agentic_fetch", { prompt: "Fetch" }),
      call("c1", "agent", { prompt: "Look at Oslo" }),
      finish("tool_use"),
    ]);
    project.put("a1$$c1", "u2", "user", [text("Look at Oslo")]);
    project.put("a1$$c1", "a2", "assistant", [text("1.2"), finish("end_turn")]);
    const sessions = look(crush, openStore(path));
    expect([...sessions.values()].map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      `${SESSION} session`,
      "a1$$c1 run",
    ]);
    const run = sessions.get("a1$$c1");
    if (run === undefined) throw new Error("No run");
    const { transcript, parts } = closed(run);
    expect(parts[0]).toMatchObject({ type: "prompt", origin: "agent" });
    expect(linkRuns([...sessions.values()].flatMap(({ reader }) => reader.linkFacts().sessions))).toEqual([
      { session_id: transcript.session_id, parent_session_id: SESSION, tool_call_id: "c1" },
    ]);
  });

  it("shows what it does not know, damaged messages, and marks removed ones", () => {
    const { path, ...project } = create();
    project.session(SESSION, "Tides");
    project.put(SESSION, "u1", "user", [text("Go"), { type: "odd", data: {} }]);
    project.put(SESSION, "a0", "assistant", [call("c0", "view", undefined, false)]);
    project.put(SESSION, "a1", "assistant", [{ type: "odd", data: {} }, text("One"), finish("end_turn")]);
    project.put(SESSION, "a2", "assistant", []);
    project.update("a2", '[{"type":"text"');
    project.put(SESSION, "x1", "oracle", [text("?")]);
    project.put(SESSION, "u2", "user", [text("Two")]);
    const store = openStore(path);
    const sessions = look(crush, store);
    const session = only(sessions);
    expect(fates(session).filter((fate) => fate === "unknown")).toHaveLength(3);
    project.remove("u2");
    look(crush, store, sessions);
    const { parts } = closed(session);
    expect(orderOf(parts)).toBe("U c:view? | ?? x ?? ?? U");
    expect(parts.at(-1)).toMatchObject({ retracted: "removed by Crush" });
  });
});

it("is a store beside its journal, wherever it is", () => {
  const { storeOf } = crush.snapshots ?? {};
  expect(storeOf?.("tide/.crush/crush.db-wal")).toBe("tide/.crush/crush.db");
  expect(storeOf?.("crush.db")).toBe("crush.db");
  expect(storeOf?.("ivcrush.db")).toBeUndefined();
  expect(storeOf?.("projects.json")).toBeUndefined();
});
