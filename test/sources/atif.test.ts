import { describe, expect, it } from "vitest";
import { linkRuns } from "../../src/sources/link-runs.ts";
import { idOf, sessionsOf } from "./document-reading.ts";

describe("ATIF trajectories", () => {
  const step = (step_id: number, source: string, message: unknown, more: object = {}) => ({
    step_id,
    timestamp: `2026-10-05T08:00:0${step_id}Z`,
    source,
    message,
    ...more,
  });
  const call = (tool_call_id: string, function_name: string, args: object) => ({
    tool_call_id,
    function_name,
    arguments: args,
  });

  it("reads 1.6: steps with thoughts, calls and observations; cached tokens are not counted twice", () => {
    const { format, sessions } = sessionsOf("a.json", {
      schema_version: "ATIF-v1.6",
      session_id: "s-1",
      agent: { name: "terminus-2", version: "1.0", model_name: "m-1" },
      steps: [
        step(1, "system", "You are an agent."),
        step(2, "user", [
          { type: "text", text: "List the files" },
          { type: "image", source: { media_type: "image/png", path: "images/a.png" } },
        ]),
        step(3, "agent", "I look.", {
          reasoning_content: "ls will do",
          tool_calls: [call("c1", "bash", { command: "ls" }), call("c2", "read_file", { path: "a.txt" })],
          observation: {
            results: [
              { source_call_id: "c2", content: "A" },
              { source_call_id: "c1", content: "a.txt" },
              { content: "the screen" },
            ],
          },
          metrics: { prompt_tokens: 100, completion_tokens: 10, cached_tokens: 60, cost_usd: 0.25 },
        }),
        step(4, "agent", "One file.", { metrics: { prompt_tokens: 120, completion_tokens: 5 } }),
        step(5, "oracle", "?"),
      ],
      final_metrics: { total_prompt_tokens: 220 },
    });
    expect(idOf(format)).toBe("atif");
    const [session] = sessions;
    expect(session?.order).toBe("[context] U T x c:bash c:read_file [note] | x ??");
    expect(session?.usage).toEqual({ input: 160, output: 15, cache_read: 60, cost: 0.25 });
    expect(session?.statuses).toBe("completed");
    expect(session?.facts).toMatchObject({ agent: "atif", model: "m-1", agent_version: "terminus-2 1.0" });
    const results = session?.parts.flatMap((part) => (part.type === "tool_result" ? [part.output_text] : []));
    expect(results).toEqual(["A", "a.txt"]);
  });

  it("reads the images and sounds of 1.8 by path or URL, also those of the agent", () => {
    const image = (path: string) => ({ type: "image", source: { media_type: "image/png", path } });
    const sound = { type: "audio", source: { media_type: "audio/wav", path: "https://tide.example/a.wav" } };
    const { sessions } = sessionsOf("media.json", {
      schema_version: "ATIF-v1.8",
      agent: { name: "lead", version: "1" },
      steps: [
        step(1, "user", [{ type: "text", text: "Look" }, image("images/a.png"), sound]),
        step(2, "agent", [{ type: "text", text: "Here." }, image("https://tide.example/b.png")]),
      ],
    });
    const all = JSON.stringify(sessions[0]?.parts);
    expect(all).not.toContain('"unknown"');
    for (const shown of ["images/a.png", "a.wav", "b.png"]) expect(all).toContain(shown);
  });

  it("makes a session of each embedded trajectory of 1.7, linked to the call that names it", () => {
    const child = (trajectory_id: string, more: object = {}) => ({
      trajectory_id,
      session_id: "s-2",
      agent: { name: "helper", version: "1" },
      steps: [step(1, "user", `Do ${trajectory_id}`), step(2, "agent", "Done.")],
      ...more,
    });
    const { sessions } = sessionsOf("b.json", {
      schema_version: "ATIF-v1.7",
      session_id: "s-2",
      trajectory_id: "root",
      agent: { name: "lead", version: "1", model_name: "m" },
      steps: [
        step(1, "user", "Split this"),
        step(2, "agent", "", {
          tool_calls: [call("t1", "task", { prompt: "Do one" })],
          observation: {
            results: [
              { source_call_id: "t1", content: "ok", subagent_trajectory_ref: [{ trajectory_id: "one" }] },
            ],
          },
        }),
      ],
      subagent_trajectories: [child("one", { subagent_trajectories: [child("deep")] })],
    });
    expect(sessions.map(({ kind, order }) => [kind, order])).toEqual([
      ["session", "U c:task"],
      ["run", "U x"],
      ["run", "U x"],
    ]);
    const [root, one, deep] = sessions;
    expect(new Set(sessions.map(({ session_id }) => session_id)).size).toBe(3);
    expect(linkRuns(sessions.flatMap(({ links }) => links))).toEqual([
      { session_id: one?.session_id, parent_session_id: root?.session_id, tool_call_id: "t1" },
      { session_id: deep?.session_id, parent_session_id: one?.session_id },
    ]);
  });
});
