import type { Part } from "../../model/messages/part.ts";
import { asObject } from "../../model/narrow.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import type { TurnOutcome } from "../agent.ts";
import { request } from "./connection.ts";
import { type Driver, emit, emitError, emitOwn } from "./driver.ts";
import { authText, errorText, exitText, isAuthError } from "./failures.ts";
import { AGENT_REQUESTS, CANCEL } from "./methods.ts";
import type { RunningAgent } from "./open-session.ts";
import { promptBlocks } from "./prompt.ts";
import { END_LIMIT_MS } from "./start.ts";

const CANCEL_LIMIT_MS = 10_000;

/** Sends a prompt to the agent, and follows it to the end of the turn. */
export async function drive(
  driver: Driver,
  current: RunningAgent,
  prompt: readonly Part[],
  signal: AbortSignal,
): Promise<TurnOutcome> {
  const { reader, options } = driver;
  const { blocks, left_out } = await promptBlocks(prompt, current.can);
  for (const what of left_out) emitOwn(driver, { title: what });
  await applyModel(driver, current, signal);
  if (signal.aborted) {
    emit(driver, reader.interrupt("Stopped"));
    return "interrupted";
  }
  driver.isReplaying = false;
  const { agent } = current.connection;
  const answer = request(current, AGENT_REQUESTS.prompt, {
    sessionId: current.session_id,
    prompt: blocks,
  }).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const gone = current.process.ended.then((exit) => ({ exit }));
  let limit: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    reader.beginCancel();
    agent.notify(CANCEL, { sessionId: current.session_id }).catch(() => {});
    limit = setTimeout(() => {
      current.isStopped = true;
      current.process.stop();
    }, options.cancel_limit_ms ?? CANCEL_LIMIT_MS);
  };
  signal.addEventListener("abort", cancel, { once: true });
  let ending = await Promise.race([answer, gone]);
  // When the program exits, the connection breaks, and its error may arrive first.
  const isEnding = "error" in ending && current.process.child.stdout.readableEnded;
  if (isEnding && (await current.process.endsWithin(END_LIMIT_MS))) ending = await gone;
  signal.removeEventListener("abort", cancel);
  clearTimeout(limit);
  for (const { wait } of driver.waiting) wait.abort();

  if ("exit" in ending) {
    if (driver.agent === current) driver.agent = undefined;
    current.connection.close();
    if (signal.aborted || current.isStopped) {
      emit(driver, reader.interrupt("Stopped"));
      return "interrupted";
    }
    emit(driver, reader.fail("The agent exited while this was running"));
    emitError(driver, exitText(current.label, options.command, ending.exit, current.process.errorOutput()));
    return "failed";
  }
  if (signal.aborted) {
    emit(driver, reader.interrupt("Stopped"));
    return "interrupted";
  }
  if ("error" in ending) {
    emit(driver, reader.fail("The agent failed while this was running"));
    emitError(
      driver,
      isAuthError(ending.error)
        ? authText(current.label, ending.error, { login: options.login })
        : `${current.label}: ${errorText(ending.error)}`,
    );
    return "failed";
  }
  const { frames, refusal } = reader.endTurn(ending.value);
  emit(driver, frames);
  if (!refusal) return "completed";
  emitError(driver, agentTitle("prompt_refused", { agent: current.label }));
  return "failed";
}

async function applyModel(driver: Driver, current: RunningAgent, signal: AbortSignal): Promise<void> {
  const { session_id: sessionId, label } = current;
  const model = driver.wanted_model;
  driver.wanted_model = undefined;
  if (model === undefined) return;
  try {
    const answer =
      driver.model_option === undefined
        ? await request(current, AGENT_REQUESTS.setModel, { sessionId, modelId: model }, signal)
        : await request(
            current,
            AGENT_REQUESTS.setOption,
            { sessionId, configId: driver.model_option, value: model },
            signal,
          );
    const configOptions = asObject(answer)?.configOptions;
    const update =
      configOptions === undefined
        ? { configOptions: [{ id: "model", category: "model", name: "Model", currentValue: model }] }
        : { configOptions };
    emit(driver, driver.reader.push({ sessionUpdate: "config_option_update", ...update }));
  } catch (error) {
    if (signal.aborted) driver.wanted_model ??= model;
    else
      emitOwn(driver, { title: agentTitle("model_not_changed", { agent: label }), text: errorText(error) });
  }
}
