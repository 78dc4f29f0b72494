import { randomUUID } from "node:crypto";
import { titleOfError } from "../../model/text/coded-error.ts";
import type { Agent, Prompt } from "../agent.ts";
import { request } from "./connection.ts";
import { drive } from "./drive.ts";
import { type AcpAgentOptions, type Driver, emit, emitError } from "./driver.ts";
import { AGENT_REQUESTS } from "./methods.ts";
import { start } from "./start.ts";
import { createUpdateReader } from "./update-reader.ts";

export type { AcpAgentOptions } from "./driver.ts";

/** Time limit for an agent to close its session, in milliseconds. Then its program is stopped. */
const CLOSE_LIMIT_MS = 1_000;

/**
 * Drives an agent that speaks the Agent Client Protocol (version 1) on its standard streams. Its program is started in the
 * session's folder for the first prompt, and again after it has exited. Its updates become frames, and its permission requests go
 * to the user. It is offered neither file access nor terminals, because it has its own, and each would be another way into the
 * folder that needs protection.
 *
 * A marker in the history contains the agent's own id of the session, so that a restarted daemon can continue it.
 */
export function createAcpAgent(options: AcpAgentOptions): Agent {
  const { host } = options;
  const reader = createUpdateReader({
    session_id: host.session_id,
    newId: randomUUID,
    now: () => host.now(),
  });
  const driver: Driver = {
    options,
    reader,
    agent: undefined,
    known_session: undefined,
    isReplaying: false,
    wanted_model: undefined,
    model_option: undefined,
    turn: undefined,
    waiting: new Set(),
    late: undefined,
  };

  return {
    async run(prompt: Prompt, signal) {
      driver.turn = signal;
      emit(
        driver,
        reader.beginTurn(prompt.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n")),
      );
      try {
        driver.agent ??= await start(driver, signal);
        return await drive(driver, driver.agent, prompt.parts, signal);
      } catch (error) {
        if (signal.aborted) {
          emit(driver, reader.interrupt("Stopped"));
          return "interrupted";
        }
        emit(driver, reader.fail("The agent failed while this was running"));
        emitError(driver, titleOfError(error));
        return "failed";
      } finally {
        driver.turn = undefined;
        for (const { wait } of driver.waiting) wait.abort();
      }
    },
    setModel(model) {
      driver.wanted_model = model;
    },
    async close() {
      clearTimeout(driver.late);
      if (reader.hasLate) emit(driver, reader.flushLate());
      const current = driver.agent;
      driver.agent = undefined;
      if (current === undefined) return;
      current.isStopped = true;
      if (current.can_close) {
        const { session_id: sessionId } = current;
        // Ignore failures, because the program is stopped next.
        const limit = AbortSignal.timeout(CLOSE_LIMIT_MS);
        await request(current, AGENT_REQUESTS.closeSession, { sessionId }, limit).catch(() => {});
      }
      await current.process.stop();
      current.connection.close();
    },
  };
}
