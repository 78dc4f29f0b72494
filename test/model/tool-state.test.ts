import { describe, expect, it } from "vitest";
import {
  abort,
  complete,
  createPending,
  fail,
  InvalidStateTransition,
  isFinished,
  start,
  type ToolState,
  toolState,
} from "../../src/model/transcript/tool-state.ts";

const pending = createPending('{"path":"a.ts"}');
const running = start(pending, 10, "Read a.ts");
const states: Record<ToolState["status"], ToolState> = {
  pending,
  running,
  completed: complete(running, { output: "x", at: 20, title: "Read" }),
  error: fail(running, "ENOENT", 20),
  aborted: abort(running, 20, "Denied"),
};
const transitions: Record<Exclude<ToolState["status"], "pending">, (state: ToolState) => ToolState> = {
  running: (state) => start(state, 30),
  completed: (state) => complete(state, { output: "y", at: 40, title: "Read" }),
  error: (state) => fail(state, "EPERM", 40),
  aborted: (state) => abort(state, 40),
};
const valid: Record<ToolState["status"], string[]> = {
  pending: ["running", "aborted"],
  running: ["completed", "error", "aborted"],
  completed: [],
  error: [],
  aborted: [],
};

describe("the states of a tool call", () => {
  it("keep input and start to the end", () => {
    expect(states.completed).toMatchObject({
      input: { path: "a.ts" },
      time: { start: 10, end: 20 },
      output: "x",
    });
    expect(states.error).toMatchObject({ error: "ENOENT", time: { start: 10, end: 20 } });
    expect(states.aborted).toMatchObject({ reason: "Denied", time: { start: 10, end: 20 } });
    for (const state of Object.values(states)) expect(toolState.parse(state)).toEqual(state);
    expect(Object.values(states).filter(isFinished)).toHaveLength(3);
  });

  for (const from of Object.keys(states) as ToolState["status"][]) {
    for (const to of Object.keys(transitions) as (keyof typeof transitions)[]) {
      if (from === to) {
        it(`allow repeating ${from} to ${to}`, () => {
          expect(transitions[to](states[from])).toBe(states[from]);
        });
      } else if (valid[from].includes(to)) {
        it(`change from ${from} to ${to} in a new object`, () => {
          const before = structuredClone(states[from]);
          expect(transitions[to](states[from]).status).toBe(to);
          expect(states[from]).toEqual(before);
        });
      } else {
        it(`do not change from ${from} to ${to}, with the valid alternatives`, () => {
          const attempt = () => transitions[to](states[from]);
          expect(attempt).toThrow(InvalidStateTransition);
          try {
            attempt();
          } catch (error) {
            expect(error).toMatchObject({
              name: "InvalidStateTransition",
              current_status: from,
              attempted_status: to,
              valid_transitions: valid[from],
            });
          }
        });
      }
    }
  }

  it("have an error text if a failure has none", () => {
    expect(fail(running, "", 20).error).not.toBe("");
  });

  it("can be completed without output", () => {
    expect(complete(running, { output: "", at: 20, title: "Bash" }).output).toBe("");
  });

  it("name the valid transitions, or that there are none", () => {
    expect(() => complete(pending, { output: "", at: 1, title: "" })).toThrow(
      "A tool call that is pending cannot become completed; it can become running or aborted",
    );
    expect(() => start(states.aborted, 1)).toThrow(
      "A tool call that is aborted cannot become running; it has already ended",
    );
    for (const state of [states.completed, states.error]) {
      expect(() => abort(state, 1)).toThrow(/cannot become aborted; it has already ended$/);
    }
  });

  it("have a title while running if one is known, and all metadata to the end", () => {
    expect(running).toStrictEqual({
      status: "running",
      input: { path: "a.ts" },
      title: "Read a.ts",
      time: { start: 10 },
    });
    expect(start(pending, 10)).not.toHaveProperty("title");
    const told = { ...running, metadata: { a: 1 } };
    expect(complete(told, { output: "x", at: 20, title: "Read", metadata: { b: 2 } })).toStrictEqual({
      status: "completed",
      input: { path: "a.ts" },
      output: "x",
      title: "Read",
      metadata: { a: 1, b: 2 },
      time: { start: 10, end: 20 },
    });
    expect(fail(told, "no", 20)).toMatchObject({ metadata: { a: 1 } });
    expect(abort(told, 20)).toStrictEqual({
      status: "aborted",
      input: { path: "a.ts" },
      metadata: { a: 1 },
      time: { start: 10, end: 20 },
    });
    for (const state of [fail(running, "no", 20), abort(running, 20)]) {
      expect(state).not.toHaveProperty("metadata");
    }
    // A call that never ran starts when it is stopped.
    expect(abort(pending, 20, "Denied")).toStrictEqual({
      status: "aborted",
      input: { path: "a.ts" },
      reason: "Denied",
      time: { start: 20, end: 20 },
    });
  });

  it("have attachments only if there are some", () => {
    const attachments = [{ type: "image_url" as const, url: "data:," }];
    const end = { output: "", at: 20, title: "Read" };
    expect(complete(running, { ...end, attachments })).toMatchObject({ attachments });
    expect(complete(running, { ...end, attachments: [] })).not.toHaveProperty("attachments");
    expect(complete(running, end)).not.toHaveProperty("attachments");
  });

  it("have parsed arguments, text if they are invalid, and none if empty", () => {
    for (const raw of ["", " \n"])
      expect(createPending(raw)).toStrictEqual({ status: "pending", input: {}, raw });
    expect(createPending("[1]")).toMatchObject({ input: [1], raw: "[1]" });
    expect(createPending("[1")).toMatchObject({ input: "[1", raw: "[1" });
    expect(createPending("[1]", "given")).toMatchObject({ input: "given" });
  });

  it("are rejected if a field is missing or belongs to another state", () => {
    const whole = { completed: complete(running, { output: "x", at: 20, title: "Read" }), running };
    const wrong: unknown[] = [
      { ...whole.running, time: {} },
      { ...whole.running, title: 1 },
      { ...whole.running, metadata: [] },
      { ...whole.completed, time: { start: 1 } },
      { ...whole.completed, time: { end: 1 } },
      { ...whole.completed, output: undefined },
      { ...whole.completed, title: undefined },
      { ...whole.completed, metadata: undefined },
      { ...whole.completed, attachments: [{ type: "text", text: "" }] },
      { ...states.error, error: undefined },
      { ...states.error, time: undefined },
      { ...states.aborted, reason: 1 },
      { ...states.aborted, time: { start: 1 } },
      { ...pending, raw: undefined },
      { ...pending, status: "waiting" },
    ];
    for (const state of wrong) expect(toolState.safeParse(state).success, JSON.stringify(state)).toBe(false);
    const image = { type: "image_url", url: "" };
    const file = { type: "file", mime: "", url: "" };
    const path = { type: "image_file", file_path: "" };
    expect(toolState.safeParse({ ...whole.completed, attachments: [image, file, path] }).success).toBe(true);
  });
});
