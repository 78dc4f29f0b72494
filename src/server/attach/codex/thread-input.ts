import { asArray, asObject, asText } from "../../../model/narrow.ts";
import { daemonText } from "../../../model/text/daemon-texts.ts";
import type { AgentState } from "../agent-state.ts";
import { InputRefused, type TerminalInput } from "../terminal-input.ts";
import type { Calls } from "./calls.ts";

/** Prompts and stops the threads of Codex's app server. `subscribed`: the threads that are joined. */
export function createThreadInput({
  accepts,
  states,
  subscribed,
  callOrThrow,
}: {
  accepts(thread: string): boolean;
  states: ReadonlyMap<string, AgentState>;
  subscribed: Set<string>;
  callOrThrow: Calls["callOrThrow"];
}): TerminalInput {
  /**
   * Joins a thread that the terminal has loaded. A thread that is not loaded is skipped: joining would load it and take its lock.
   */
  async function join(thread: string): Promise<void> {
    if (!accepts(thread)) throw new InputRefused(daemonText("not_in_codex"));
    if (subscribed.has(thread)) return;
    subscribed.add(thread);
    await callOrThrow("thread/resume", { threadId: thread, excludeTurns: true });
  }

  /** The running turn, if there is one. */
  async function runningTurn(thread: string): Promise<string | undefined> {
    const { data } = await callOrThrow("thread/turns/list", { threadId: thread, limit: 1 });
    const last = asObject(asArray(data)[0]);
    return last?.status === "inProgress" ? asText(last.id) : undefined;
  }

  return {
    accepts,
    async prompt(thread, text) {
      await join(thread);
      const input = [{ type: "text", text, text_elements: [] }];
      const turn = states.get(thread)?.busy === true ? await runningTurn(thread) : undefined;
      if (turn === undefined) await callOrThrow("turn/start", { threadId: thread, input });
      else await callOrThrow("turn/steer", { threadId: thread, expectedTurnId: turn, input });
    },
    async stop(thread) {
      await join(thread);
      const turn = await runningTurn(thread);
      if (turn === undefined) throw new InputRefused(daemonText("nothing_running"));
      await callOrThrow("turn/interrupt", { threadId: thread, turnId: turn });
    },
  };
}
