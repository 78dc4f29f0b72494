import { randomUUID } from "node:crypto";
import type {
  CreateElicitationResponse,
  McpServer,
  RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import type { Frame } from "../../model/frames/frame.ts";
import type { Part } from "../../model/messages/part.ts";
import { asObject, asString, asText, type JsonObject, messageOf } from "../../model/narrow.ts";
import type { Answer } from "../../model/request.ts";
import type { Agent, AgentHost, Prompt, TurnOutcome } from "../agent.ts";
import { startProcess } from "./agent-process.ts";
import { connect, request } from "./connection.ts";
import { answerForm } from "./elicitation.ts";
import { authText, errorText, exitText, isAuthError } from "./failures.ts";
import { ASKS, CANCEL } from "./methods.ts";
import { costOf, isPast, type Life, modelOption, openSession, StartFailure } from "./open-session.ts";
import { requestOf } from "./permission.ts";
import { promptBlocks } from "./prompt.ts";
import { REFUSED } from "./update-calls.ts";
import { createUpdateReader } from "./update-reader.ts";

export interface AcpAgentOptions {
  host: AgentHost;
  command: string;
  args: readonly string[];
  /** All of the program's environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** The operator's name for the agent. Absent: the agent's own name, or its command. */
  label?: string;
  /** The id of one of the logins that the agent offers. Absent: no login is requested. */
  auth_method?: string;
  mcp_servers?: readonly McpServer[];
  /** Whether another process has the agent's session open. Absent: it cannot be known. */
  isOpenElsewhere?(session_id: string): Promise<boolean>;
  /** Time for which a stopped agent may not answer before its program is killed, in milliseconds. */
  cancel_limit_ms?: number;
}

const CANCEL_LIMIT_MS = 10_000;
/** Time for which text after a turn is buffered before it is shown. */
const LATE_MS = 100;
/** Time for an agent to close its session before its program is killed. */
const CLOSE_LIMIT_MS = 1_000;
/** Time for a program to exit after it closed its output. */
const END_LIMIT_MS = 2_000;

const same = (error: unknown): unknown => error;

/**
 * Drives an agent that speaks the Agent Client Protocol (version 1) on its standard streams: its program is started with the
 * first prompt, in the session's folder, and again after it exited. Its updates become frames; its permission requests go to the user.
 * It is offered no files and no terminals: it has its own, and each would be another way into the folder to guard.
 *
 * A marker in the history contains the agent's own id of the session, so that a restarted daemon can continue it.
 */
export function createAcpAgent(options: AcpAgentOptions): Agent {
  const { host, command, args, env } = options;
  const cancel_limit_ms = options.cancel_limit_ms ?? CANCEL_LIMIT_MS;
  const reader = createUpdateReader({
    session_id: host.session_id,
    newId: randomUUID,
    now: () => host.now(),
  });
  let life: Life | undefined;
  let known_session: string | undefined;
  /** While a session is loaded, its updates repeat the history. */
  let isReplaying = false;
  let wanted_model: string | undefined;
  let model_option: string | undefined;
  let turn: AbortSignal | undefined;
  /** Open requests and their calls. */
  const waiting = new Set<{ tool_call_id: string | undefined; wait: AbortController }>();

  const emit = (frames: readonly Frame[]): void => {
    for (const frame of frames) host.emit(frame);
    // An agent may go on without an answer. A call that has ended needs none.
    for (const { tool_call_id, wait } of waiting)
      if (tool_call_id !== undefined && reader.hasEnded(tool_call_id)) wait.abort();
  };
  let late: NodeJS.Timeout | undefined;
  /** Shows text that arrives after the turn, with a delay, because it arrives in many chunks. */
  const emitLate = (): void => {
    if (!reader.hasLate || late !== undefined) return;
    late = setTimeout(() => {
      late = undefined;
      emit(reader.flushLate());
    }, LATE_MS);
  };
  const emitOwn = (body: { title: string; text?: string; data?: unknown }): void => {
    const part_id = randomUUID();
    host.emit({
      type: "marker",
      kind: "note",
      part_id,
      session_id: host.session_id,
      at: host.now(),
      ...body,
    });
  };
  const emitError = (message: string): void => {
    host.emit({ type: "error", session_id: host.session_id, at: host.now(), message, can_retry: true });
  };

  /** Asks the user. Ends when the agent withdraws the request, or when the call or the turn ends. */
  async function askUser(
    tool_call_id: string | undefined,
    signals: readonly AbortSignal[],
    ask: (signal: AbortSignal) => Promise<Answer | undefined>,
  ): Promise<{ answer?: Answer | undefined; problem?: string; is_aborted: boolean }> {
    const wait = new AbortController();
    const open = { tool_call_id, wait };
    waiting.add(open);
    const signal = AbortSignal.any([wait.signal, ...signals]);
    try {
      return { answer: await ask(signal), is_aborted: signal.aborted };
    } catch (error) {
      return { problem: messageOf(error), is_aborted: signal.aborted };
    } finally {
      waiting.delete(open);
    }
  }

  async function askForm(params: JsonObject, withdrawn: AbortSignal): Promise<CreateElicitationResponse> {
    const current = turn;
    const tool_call_id = asText(params.toolCallId);
    emit(reader.endText());
    const response =
      current &&
      (await answerForm(params, async (request) => {
        const { answer } = await askUser(tool_call_id, [withdrawn, current], (signal) =>
          host.ask(request, signal),
        );
        return answer;
      }));
    if (response === undefined) emit(reader.pushUnknown(params, "A form that cannot be shown"));
    await host.stored();
    return response ?? { action: "cancel" };
  }

  async function askPermission(
    params: JsonObject,
    withdrawn: AbortSignal,
  ): Promise<RequestPermissionResponse> {
    const cancelled = { outcome: { outcome: "cancelled" as const } };
    const { frames, tool_call_id, tool_name } = reader.announce(asObject(params.toolCall) ?? {});
    emit(frames);
    const request = requestOf(params, { request_id: randomUUID(), tool_call_id, tool_name });
    if (request.options.length === 0 || turn === undefined) {
      emit(reader.pushUnknown(params, "A permission that nobody can give"));
      return cancelled;
    }
    const { answer, problem, is_aborted } = await askUser(tool_call_id, [withdrawn, turn], (signal) =>
      host.ask(request, signal),
    );
    const unasked = problem === undefined || is_aborted ? undefined : `Nobody could be asked (${problem})`;
    const isExpired = answer === undefined && !is_aborted;
    const chosen = request.options.find(({ id, kind }) =>
      isExpired ? kind === "reject_once" : answer?.option_ids.includes(id) === true,
    );
    if (chosen === undefined) {
      reader.refuse(tool_call_id, unasked ?? "Nobody allowed it");
      return cancelled;
    }
    if (chosen.kind === "reject_once" || chosen.kind === "reject_always") {
      const expired = unasked ?? "Nobody answered in time";
      reader.refuse(tool_call_id, isExpired ? expired : `${REFUSED} ${chosen.label}`);
    } else reader.allow(tool_call_id);
    // A permission is on disk before its call can run.
    await host.stored();
    return { outcome: { outcome: "selected", optionId: chosen.id } };
  }

  async function start(signal: AbortSignal): Promise<Life> {
    const process = startProcess({ command, args, cwd: host.cwd, env });
    const connection = await connect(process, {
      onUpdate(params) {
        const update = asObject(params.update) ?? params;
        const isOther = known_session !== undefined && asString(params.sessionId) !== known_session;
        if (isReplaying && isPast(update.sessionUpdate)) reader.skip("replayed");
        else if (isOther && !isReplaying && life !== undefined)
          emit(reader.pushUnknown(params, "Of another session"));
        else emit(reader.push(update));
        emitLate();
      },
      onUnknown(message) {
        if (message.id === undefined)
          emit(reader.pushUnknown(message, asString(message.method) ?? "A message"));
        else reader.skip("not_offered");
      },
      onNoise(line) {
        emit(
          reader.pushUnknown(
            line,
            "A line that is no message",
            "The agent wrote it where its messages belong",
          ),
        );
      },
      onPermission: askPermission,
      onElicitation: askForm,
    });
    const made: Life = {
      process,
      connection,
      session_id: "",
      can: { image: false, embeddedContext: false },
      can_close: false,
      label: options.label ?? command,
      isStopped: false,
    };
    const gone = process.ended.then((exit) => {
      if (life === made) life = undefined;
      connection.close();
      throw new StartFailure(exitText(made.label, command, exit, process.lastWords()));
    });
    gone.catch(() => {});
    const stopped = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new StartFailure("stopped")), { once: true });
    });
    stopped.catch(() => {});
    try {
      await Promise.race([open(made), gone, stopped]);
      return made;
    } catch (error) {
      made.isStopped = true;
      // When a program exits, its connection breaks too. The exit is the better explanation.
      const { pid, stdout } = process.child;
      const isEnding = !(error instanceof StartFailure) && (stdout.readableEnded || pid === undefined);
      const failure = isEnding && (await process.endsWithin(END_LIMIT_MS)) ? await gone.catch(same) : error;
      await process.stop();
      connection.close();
      throw failure instanceof StartFailure
        ? failure
        : new StartFailure(`${made.label} could not open a session: ${errorText(failure)}`);
    }
  }

  async function open(made: Life): Promise<void> {
    const isReopening = known_session !== undefined;
    const { reply, is_new } = await openSession(made, {
      ...options,
      known_session,
      note: emitOwn,
      onReopen(is_running) {
        isReplaying = is_running;
      },
    });
    known_session = made.session_id;
    if (is_new) reader.beginSession(0);
    else if (!isReopening) reader.beginSession(costOf(host.history()));
    model_option = modelOption(reply);
    emit(reader.pushSession(reply));
  }

  async function applyModel(current: Life, signal: AbortSignal): Promise<void> {
    const { session_id: sessionId, label } = current;
    const model = wanted_model;
    wanted_model = undefined;
    if (model === undefined) return;
    try {
      const answer =
        model_option === undefined
          ? await request(current, ASKS.setModel, { sessionId, modelId: model }, signal)
          : await request(
              current,
              ASKS.setOption,
              { sessionId, configId: model_option, value: model },
              signal,
            );
      const configOptions = asObject(answer)?.configOptions;
      const update =
        configOptions === undefined
          ? { configOptions: [{ id: "model", category: "model", name: "Model", currentValue: model }] }
          : { configOptions };
      emit(reader.push({ sessionUpdate: "config_option_update", ...update }));
    } catch (error) {
      if (signal.aborted) wanted_model ??= model;
      else emitOwn({ title: `${label} keeps its model`, text: errorText(error) });
    }
  }

  async function drive(current: Life, prompt: readonly Part[], signal: AbortSignal): Promise<TurnOutcome> {
    const { blocks, left_out } = await promptBlocks(prompt, current.can);
    for (const what of left_out) emitOwn({ title: `Not sent: ${what}` });
    await applyModel(current, signal);
    if (signal.aborted) {
      emit(reader.interrupt("Stopped"));
      return "interrupted";
    }
    isReplaying = false;
    const { agent } = current.connection;
    const answer = request(current, ASKS.prompt, {
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
      }, cancel_limit_ms);
    };
    signal.addEventListener("abort", cancel, { once: true });
    let ending = await Promise.race([answer, gone]);
    // When the program exits, the connection breaks, and its error may arrive first.
    const isEnding = "error" in ending && current.process.child.stdout.readableEnded;
    if (isEnding && (await current.process.endsWithin(END_LIMIT_MS))) ending = await gone;
    signal.removeEventListener("abort", cancel);
    clearTimeout(limit);
    for (const { wait } of waiting) wait.abort();

    if ("exit" in ending) {
      if (life === current) life = undefined;
      current.connection.close();
      if (signal.aborted || current.isStopped) {
        emit(reader.interrupt("Stopped"));
        return "interrupted";
      }
      emit(reader.fail("The agent ended while this ran"));
      emitError(exitText(current.label, command, ending.exit, current.process.lastWords()));
      return "failed";
    }
    if (signal.aborted) {
      emit(reader.interrupt("Stopped"));
      return "interrupted";
    }
    if ("error" in ending) {
      emit(reader.fail("The agent failed while this ran"));
      emitError(
        isAuthError(ending.error)
          ? authText(current.label, ending.error, undefined)
          : `${current.label}: ${errorText(ending.error)}`,
      );
      return "failed";
    }
    const { frames, refusal } = reader.endTurn(ending.value);
    emit(frames);
    if (!refusal) return "completed";
    emitError(
      `${current.label} refused to go on with this prompt. What it refused is not in its memory: ask in other words.`,
    );
    return "failed";
  }

  return {
    async run(prompt: Prompt, signal) {
      turn = signal;
      emit(reader.beginTurn(prompt.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n")));
      try {
        life ??= await start(signal);
        return await drive(life, prompt.parts, signal);
      } catch (error) {
        if (signal.aborted) {
          emit(reader.interrupt("Stopped"));
          return "interrupted";
        }
        emit(reader.fail("The agent failed while this ran"));
        emitError(messageOf(error));
        return "failed";
      } finally {
        turn = undefined;
        for (const { wait } of waiting) wait.abort();
      }
    },
    setModel(model) {
      wanted_model = model;
    },
    async close() {
      clearTimeout(late);
      if (reader.hasLate) emit(reader.flushLate());
      const current = life;
      life = undefined;
      if (current === undefined) return;
      current.isStopped = true;
      if (current.can_close) {
        const { session_id: sessionId } = current;
        // A failure does not matter: the program is killed next.
        const limit = AbortSignal.timeout(CLOSE_LIMIT_MS);
        await request(current, ASKS.closeSession, { sessionId }, limit).catch(() => {});
      }
      await current.process.stop();
      current.connection.close();
    },
  };
}
