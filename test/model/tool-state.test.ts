import { describe, expect, it } from "vitest";
import {
  abort,
  complete,
  createPending,
  fail,
  InvalidStateTransition,
  isSettled,
  start,
  type ToolState,
  timeOut,
  toolState,
} from "../../src/model/tool-state.ts";

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

describe("the life of a tool call", () => {
  it("keeps its input and its start to the end", () => {
    expect(states.completed).toMatchObject({
      input: { path: "a.ts" },
      time: { start: 10, end: 20 },
      output: "x",
    });
    expect(states.error).toMatchObject({ error: "ENOENT", time: { start: 10, end: 20 } });
    expect(states.aborted).toMatchObject({ reason: "Denied", time: { start: 10, end: 20 } });
    for (const state of Object.values(states)) expect(toolState.parse(state)).toEqual(state);
    expect(Object.values(states).filter(isSettled)).toHaveLength(3);
  });

  for (const from of Object.keys(states) as ToolState["status"][]) {
    for (const to of Object.keys(transitions) as (keyof typeof transitions)[]) {
      if (from === to) {
        it(`takes ${from} to ${to} a second time without harm`, () => {
          expect(transitions[to](states[from])).toBe(states[from]);
        });
      } else if (valid[from].includes(to)) {
        it(`goes from ${from} to ${to} in a new object`, () => {
          const before = structuredClone(states[from]);
          expect(transitions[to](states[from]).status).toBe(to);
          expect(states[from]).toEqual(before);
        });
      } else {
        it(`does not go from ${from} to ${to}, and says where it could go`, () => {
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

  it("ends in error when its time is up, and in words when a failure has none", () => {
    expect(timeOut(running, 5_000, 5_010)).toMatchObject({
      status: "error",
      error: "Timed out after 5000 ms",
    });
    expect(fail(running, "", 20).error).not.toBe("");
  });

  it("may complete without a word of output", () => {
    expect(complete(running, { output: "", at: 20, title: "Bash" }).output).toBe("");
  });
});
