import { asObject, asString } from "../../model/narrow.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { startProcess } from "./agent-process.ts";
import { connect, type Listener } from "./connection.ts";
import { type Driver, emit, emitLate, emitOwn } from "./driver.ts";
import { errorText, exitText } from "./failures.ts";
import { costOf, isPast, modelOption, openSession, type RunningAgent, StartFailure } from "./open-session.ts";
import { askForm, askPermission } from "./requests.ts";

/** Time limit for a program to exit after it has closed its output, in milliseconds. */
export const END_LIMIT_MS = 2_000;

const same = (error: unknown): unknown => error;

/** Starts the program and opens a session in it. Rejects with a `StartFailure`. */
export async function start(driver: Driver, signal: AbortSignal): Promise<RunningAgent> {
  const { options } = driver;
  const { host, command, args, env } = options;
  const process = startProcess({ command, args, cwd: host.cwd, env });
  const connection = await connect(process, listenerOf(driver));
  const made: RunningAgent = {
    process,
    connection,
    session_id: "",
    can: { image: false, embeddedContext: false },
    can_close: false,
    label: options.label ?? command,
    isStopped: false,
  };
  const gone = process.ended.then((exit) => {
    if (driver.agent === made) driver.agent = undefined;
    connection.close();
    throw new StartFailure(exitText(made.label, command, exit, process.errorOutput()));
  });
  gone.catch(() => {});
  const stopped = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new StartFailure("stopped")), { once: true });
  });
  stopped.catch(() => {});
  try {
    await Promise.race([open(driver, made), gone, stopped]);
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
      : new StartFailure(agentTitle("session_not_opened", { agent: made.label, reason: errorText(failure) }));
  }
}

/** Handles the agent's messages. */
function listenerOf(driver: Driver): Listener {
  const { reader } = driver;
  return {
    onUpdate(params) {
      const update = asObject(params.update) ?? params;
      const isOther =
        driver.known_session !== undefined && asString(params.sessionId) !== driver.known_session;
      if (driver.isReplaying && isPast(update.sessionUpdate)) reader.skip("replayed");
      else if (isOther && !driver.isReplaying && driver.agent !== undefined)
        emit(driver, reader.pushUnknown(params, agentTitle("of_another_session")));
      else emit(driver, reader.push(update));
      emitLate(driver);
    },
    onUnknown(message) {
      if (message.id === undefined)
        emit(driver, reader.pushUnknown(message, asString(message.method) ?? agentTitle("unnamed_message")));
      else reader.skip("not_offered");
    },
    onNoise(line) {
      emit(
        driver,
        reader.pushUnknown(line, agentTitle("line_not_message"), "The agent wrote it to its message stream"),
      );
    },
    onPermission: (params, withdrawn) => askPermission(driver, params, withdrawn),
    onElicitation: (params, withdrawn) => askForm(driver, params, withdrawn),
  };
}

async function open(driver: Driver, made: RunningAgent): Promise<void> {
  const { reader } = driver;
  const isReopening = driver.known_session !== undefined;
  const { reply, is_new } = await openSession(made, {
    ...driver.options,
    known_session: driver.known_session,
    note: (body) => emitOwn(driver, body),
    onReopen(is_running) {
      driver.isReplaying = is_running;
    },
  });
  driver.known_session = made.session_id;
  if (is_new) reader.beginSession(0);
  else if (!isReopening) reader.beginSession(costOf(driver.options.host.history()));
  driver.model_option = modelOption(reply);
  emit(driver, reader.pushSession(reply));
}
