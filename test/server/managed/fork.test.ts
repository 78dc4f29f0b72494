import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentHost } from "../../../src/agent/agent.ts";
import { contextOf } from "../../../src/agent/context.ts";
import { locateStored } from "../../../src/agent/paths.ts";
import { systemPrompt } from "../../../src/agent/system-prompt.ts";
import type { ManagedSessions } from "../../../src/server/managed/managed-sessions.ts";
import { eventually } from "../../eventually.ts";
import { openManaged } from "./open-managed.ts";
import { type Play, played, promptOf, words } from "./play.ts";

let folder: string;
let managed: ManagedSessions;
/** The texts of the agent's context at its last prompt. */
let known: string[];
/** The host of the last prompted agent. */
let host: AgentHost;

/** Answers each prompt. Some prompts also make it start a run, write files, or wait to be stopped. */
const play: Play = async (stage, prompt, signal) => {
  host = stage.host;
  const system = systemPrompt({
    session_id: stage.host.session_id,
    cwd: folder,
    platform: "linux",
    began_at: 0,
    tools: [],
  });
  known = contextOf(stage.host.history(), system)
    .slice(1)
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : [])));
  const [said] = prompt.parts;
  if (said?.type === "text" && said.text === "Delegate") {
    stage.call("task", "task");
    const report = await stage.host.startRun({ tool_call_id: "task", prompt: "Child" }, signal);
    stage.result("task", report.outcome);
  }
  if (said?.type === "text" && said.text.startsWith("Draw")) {
    const file_path = join(host.files, `${said.text}.png`);
    writeFileSync(file_path, said.text);
    stage.call(said.text, "draw");
    stage.result(said.text, "drawn", [{ type: "image_file", file_path, mime_type: "image/png" }]);
  }
  if (said?.type === "text" && said.text.startsWith("Log")) {
    const path = join(host.files, `${said.text}.log`);
    writeFileSync(path, `whole of ${said.text}`);
    // Paths that the session does not own.
    const others = join(folder, "files", "other", "other.log");
    mkdirSync(dirname(others), { recursive: true });
    writeFileSync(others, "another session's");
    for (const persisted_path of [
      path,
      others,
      join(folder, "history.db"),
      `${host.files}/../../history.db`,
    ]) {
      stage.call(persisted_path, "shell");
      host.emit({
        type: "message.tool_result",
        session_id: host.session_id,
        at: 1,
        tool_call_id: persisted_path,
        is_error: false,
        status: "success",
        output_text: "cut",
        parts: [],
        ui_extra: { type: "shell", persisted_path },
      });
    }
  }
  if (said?.type === "text" && said.text === "Wait") {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    return "interrupted";
  }
  await stage.say(`Answer to ${said?.type === "text" ? said.text : ""}`);
  return "completed";
};

const open = async () => {
  managed = await openManaged({ folder, agents: played(play) });
};
const close = () => managed.close();
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "fork-"));
  await open();
});
afterEach(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

const shown = async (id: string) => {
  const session = await managed.open(id);
  return session ? words(session.transcript) : [];
};
const idle = (id: string) => eventually(() => expect(managed.get(id)?.control?.state).toBe("idle"));

/** A session with these prompts, one after the other. */
async function session(...prompts: ReturnType<typeof promptOf>[]): Promise<string> {
  const id = randomUUID();
  for (const [index, prompt] of prompts.entries()) {
    if (index === 0) await managed.start(id, { agent: "player", cwd: folder, prompt });
    else await managed.send(id, prompt, "queue");
    await idle(id);
  }
  return id;
}

describe("a fork", () => {
  it("is a separate session with everything before the prompt, once, and continues from there", async () => {
    const [one, two, three] = [promptOf("One"), promptOf("Two"), promptOf("Three")];
    const id = await session(one, two, three);
    const fork = randomUUID();
    const given = { session_id: fork, before: two.message_id, prompt: promptOf("Other") };
    await managed.fork(id, given);
    await managed.fork(id, given);
    await idle(fork);
    const expected = ["prompt: One", "text: Answer to One", "prompt: Other", "text: Answer to Other"];
    expect(await shown(fork)).toEqual(expected);
    expect(known).toEqual(["One", "Answer to One", "Other"]);
    expect(managed.get(fork)).toMatchObject({ forked_from: { session_id: id }, turns: 2, cwd: folder });
    expect(await shown(id)).toHaveLength(6);
    await close();
    await open();
    await managed.fork(id, given);
    expect(await shown(fork)).toEqual(expected);
    expect(managed.get(fork)).toMatchObject({ forked_from: { session_id: id }, status: "completed" });
  });

  it("can be made by the id of the prompt's part, and without a prompt waits for one", async () => {
    const two = promptOf("Two");
    const id = await session(promptOf("One"), two);
    const part = (await managed.open(id))?.transcript.turns.at(1)?.prompt_index ?? -1;
    const before = (await managed.open(id))?.transcript.parts.at(part)?.id ?? "";
    const fork = randomUUID();
    await managed.fork(id, { session_id: fork, before });
    expect(await shown(fork)).toEqual(["prompt: One", "text: Answer to One"]);
    expect(managed.get(fork)?.control?.state).toBe("idle");
    await expect(managed.fork(id, { session_id: randomUUID(), before: randomUUID() })).rejects.toMatchObject({
      code: "before",
    });
  });

  it("is rejected if another session has the id, or a fork with another prompt", async () => {
    const [one, two] = [promptOf("One"), promptOf("Two")];
    const id = await session(one, two);
    const other = await session(promptOf("Other"));
    const fork = randomUUID();
    await managed.fork(id, { session_id: fork, before: two.message_id });
    const given = { before: two.message_id, prompt: promptOf("Lost") };
    for (const session_id of [other, id, fork])
      await expect(managed.fork(id, { session_id, ...given })).rejects.toMatchObject({ code: "session_id" });
    await managed.fork(id, { session_id: fork, before: two.message_id });
    expect(await shown(other)).toEqual(["prompt: Other", "text: Answer to Other"]);
  });

  it("links to runs that were started before it, which still belong to the original session", async () => {
    const after = promptOf("After");
    const id = await session(promptOf("Delegate"), after);
    // The list publishes changes with a delay.
    const child = await eventually(() => {
      const run = managed.list().find(({ parent }) => parent?.session_id === id)?.id;
      expect(run).toBeDefined();
      return run;
    });
    const fork = randomUUID();
    await managed.fork(id, { session_id: fork, before: after.message_id, prompt: promptOf("On") });
    await idle(fork);
    const runs = [...((await managed.open(fork))?.transcript.parts ?? [])].flatMap((part) =>
      part?.type === "tool_call" ? part.run : [],
    );
    expect(runs).toMatchObject([{ session_id: child }]);
    expect(managed.get(child ?? "")?.parent).toEqual({ session_id: id, tool_call_id: "task" });
    // The fork of a run is not a run.
    const [prompt] = (await managed.open(child ?? ""))?.transcript.parts ?? [];
    const other = randomUUID();
    await managed.fork(child ?? "", {
      session_id: other,
      before: prompt?.id ?? "",
      prompt: promptOf("Alone"),
    });
    await idle(other);
    expect(managed.get(other)?.parent).toBeUndefined();
    expect(managed.get(other)?.run).toBeUndefined();
  });
});

describe("the files in a fork's history", () => {
  /** Each image of the session by its path in the history, as the page and the agent receive it. */
  const pictures = async (id: string) => {
    const parts = [...((await managed.open(id))?.transcript.parts ?? [])];
    return await Promise.all(
      parts.flatMap((part) => {
        if (part?.type !== "tool_result") return [];
        const [image] = part.parts;
        const place = image?.type === "image_file" ? locateStored(host, image.file_path) : undefined;
        const read = place === undefined ? undefined : readFileSync(place.absolute, "utf8");
        return managed
          .attachment(id, part.id, 0)
          .then((shown) => [String(shown?.bytes && Buffer.from(shown.bytes)), read]);
      }),
    );
  };

  it("are available to the page and the agent, also in a fork of the fork and after the original's files are deleted", async () => {
    const [two, three] = [promptOf("Draw 2"), promptOf("Three")];
    const id = await session(promptOf("Draw 1"), two);
    const fork = randomUUID();
    await managed.fork(id, { session_id: fork, before: two.message_id, prompt: promptOf("Draw 3") });
    await idle(fork);
    await managed.send(fork, three, "queue");
    await idle(fork);
    const other = randomUUID();
    await managed.fork(fork, { session_id: other, before: three.message_id, prompt: promptOf("Four") });
    await idle(other);
    rmSync(join(folder, "files", id), { recursive: true });
    rmSync(join(folder, "files", fork), { recursive: true });
    const expected = ["Draw 1", "Draw 3"].map((name) => [name, name]);
    expect(await pictures(other)).toEqual(expected);
    expect(existsSync(join(folder, "files", other, fork, "Draw 3.png"))).toBe(true);
  });

  it("give the page the complete outputs of its own calls only", async () => {
    const two = promptOf("Two");
    const id = await session(promptOf("Log 1"), two);
    const fork = randomUUID();
    await managed.fork(id, { session_id: fork, before: two.message_id, prompt: promptOf("Log 2") });
    await idle(fork);
    rmSync(join(folder, "files", id), { recursive: true });
    const results = [...((await managed.open(fork))?.transcript.parts ?? [])].filter(
      (part) => part?.type === "tool_result",
    );
    const outputs = await Promise.all(results.map((part) => managed.output(fork, part?.id ?? "", 9)));
    expect(outputs.map((bytes) => bytes && Buffer.from(bytes).toString())).toEqual([
      "Log 1",
      undefined,
      undefined,
      undefined,
      "Log 2",
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("do not include files of unrelated sessions", async () => {
    const id = await session(promptOf("Draw 1"));
    const path = join(folder, "files", id, "Draw 1.png");
    await session(promptOf("One"));
    expect(locateStored(host, path)).toBeUndefined();
    expect(locateStored(host, join(host.files, "..", id, "Draw 1.png"))).toBeUndefined();
  });
});

describe("a rewind", () => {
  it("removes the prompt and what follows from the agent's context, deletes nothing, and is done once", async () => {
    const [one, two, three] = [promptOf("One"), promptOf("Two"), promptOf("Three")];
    const id = await session(one, two, three);
    await managed.rewind(id, two.message_id);
    await managed.rewind(id, two.message_id);
    await managed.rewind(id, three.message_id);
    const turns = async () =>
      [...((await managed.open(id))?.transcript.turns ?? [])].map((turn) => turn?.retracted !== undefined);
    expect(await turns()).toEqual([false, true, true]);
    const marker = "rewind: Rewound to an earlier prompt: 2 turns above are out of the agent's context";
    expect((await shown(id)).filter((line) => line.startsWith("rewind"))).toEqual([marker]);
    await close();
    await open();
    await managed.send(id, promptOf("Four"), "queue");
    await idle(id);
    expect(known).toEqual(["One", "Answer to One", "Four"]);
    expect(await turns()).toEqual([false, true, true, false]);
    expect(await shown(id)).toEqual([
      "prompt: One",
      "text: Answer to One",
      "prompt: Two",
      "text: Answer to Two",
      "prompt: Three",
      "text: Answer to Three",
      marker,
      "prompt: Four",
      "text: Answer to Four",
    ]);
  });

  it("holds queued prompts, also after a restart, and starts what is sent afterwards", async () => {
    const id = await session(promptOf("One"));
    const [wrong, follow_up] = [promptOf("Wait"), promptOf("On with it")];
    await managed.send(id, wrong, "queue");
    await managed.send(id, follow_up, "queue");
    await managed.stop(id);
    await idle(id);
    await managed.rewind(id, wrong.message_id);
    await close();
    await open();
    await managed.send(id, promptOf("Right"), "queue");
    await managed.send(id, promptOf("And then"), "queue");
    await eventually(() => expect(managed.get(id)?.turns).toBe(4));
    await idle(id);
    const prompts = async () => (await shown(id)).filter((line) => line.startsWith("prompt"));
    const begun = ["prompt: One", "prompt: Wait", "prompt: Right", "prompt: And then"];
    expect(await prompts()).toEqual(begun);
    expect(managed.get(id)?.control?.queued).toEqual([
      { message_id: follow_up.message_id, text: "On with it", held: true },
    ]);
    await managed.beginHeld(id, follow_up.message_id);
    await idle(id);
    expect(await prompts()).toEqual([...begun, "prompt: On with it"]);
  });

  it("starts both held prompts that two people send at once, one after the other", async () => {
    const id = await session(promptOf("One"));
    const [wrong, first, second] = [promptOf("Wait"), promptOf("First"), promptOf("Second")];
    for (const prompt of [wrong, first, second]) await managed.send(id, prompt, "queue");
    await managed.stop(id);
    await idle(id);
    await managed.rewind(id, wrong.message_id);
    await Promise.all([first, second].map(({ message_id }) => managed.beginHeld(id, message_id)));
    await idle(id);
    expect((await shown(id)).filter((line) => line.startsWith("prompt")).slice(-2)).toEqual([
      "prompt: First",
      "prompt: Second",
    ]);
    expect(managed.get(id)?.control?.queued).toEqual([]);
  });
});
