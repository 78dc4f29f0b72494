import { WebSocket } from "ws";
import * as z from "zod";
import { messageOf } from "../../model/narrow.ts";
import type { Answer, Request } from "../../model/request.ts";
import { accumulate, restoreTranscript } from "../../model/transcript/accumulate.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import { emptyTranscript, type Transcript } from "../../model/transcript/transcript-state.ts";
import {
  type AgentsReply,
  agentsReply,
  answerReply,
  type ClientMessage,
  errorReply,
  newSessionReply,
  outputChannel,
  serverMessage,
  sessionReply,
} from "../../protocol.ts";
import { createPrinter } from "./run-printer.ts";
import { safe, subjectSize, subjectText, visibleLine } from "./terminal-text.ts";

/** A prompt that the daemon at `origin` runs, with output in the terminal. */
interface RunOptions {
  /** `http://127.0.0.1:4747` */
  origin: string;
  /** The daemon's `api_token`. */
  token: string;
  /** Signs a browser in, to watch the session there. */
  link: string;
  prompt: string;
  /** Id of a provider or configured agent. Absent: the last used, or the first usable one. */
  agent?: string;
  model?: string;
  /** Absolute path: the working folder, unless the agent has one of its own. */
  cwd: string;
  /** Absolute path: the working folder in any case. */
  wanted_cwd?: string;
  /** `json`: the session's frames, one per line. */
  as: "text" | "json";
  write(text: string): Promise<void>;
  /** Prints text that is not part of the transcript, without a final newline. */
  warn(text: string): void;
  /**
   * Asks the user at the terminal, and resolves with the entered line. Absent: there is no terminal, and requests wait for a
   * browser.
   */
  ask?(question: string, signal: AbortSignal): Promise<string>;
  /** A monotonic clock, in milliseconds. */
  now(): number;
  /** Stops the turn when aborted. */
  stop: AbortSignal;
}

/** A run that could not begin or continue, with a message for the user. */
export class RunError extends Error {
  override readonly name = "RunError";
}

/** Minimum time to read a question, in milliseconds. A line entered earlier was meant for the previous one. */
const UNREAD_MS = 300;
const RECONNECT_MS = 250;
/** Time without the daemon after which the command ends, in milliseconds. */
const GIVE_UP_MS = 30_000;

/**
 * Starts a session, follows its first turn to the end, and returns the exit code: 0 completed, 1 failed, 130 interrupted. Frames
 * are folded with the same reducer as in the page. Throws `RunError`.
 */
export async function runPrompt(options: RunOptions): Promise<number> {
  const agent = chooseAgent(await call(options, "GET", "/api/agents", agentsReply), options);
  const session_id = crypto.randomUUID();
  const model = options.model ?? agent.model;
  const cwd = options.wanted_cwd ?? agent.cwd ?? options.cwd;
  if (options.stop.aborted) return 130;
  await call(options, "POST", "/api/sessions", newSessionReply, {
    session_id,
    agent: agent.id,
    ...(model === undefined ? {} : { model }),
    cwd,
    prompt: { message_id: crypto.randomUUID(), text: options.prompt },
  });
  options.warn(`${agent.title}${model === undefined ? "" : ` ${model}`} in ${cwd}`);
  options.warn(`Live in the browser: ${options.link}&next=/session/${session_id}`);
  const stopTurn = () => {
    call(options, "POST", `/api/sessions/${session_id}/stop`, z.unknown(), {}).catch((error: unknown) =>
      options.warn(messageOf(error)),
    );
  };
  options.stop.addEventListener("abort", stopTurn, { once: true });
  if (options.stop.aborted) stopTurn();
  try {
    const status = await follow(options, session_id);
    return status === "completed" ? 0 : status === "interrupted" ? 130 : 1;
  } finally {
    options.stop.removeEventListener("abort", stopTurn);
  }
}

function chooseAgent(
  { agents, recent }: AgentsReply,
  { agent: wanted, model }: RunOptions,
): { id: string; title: string; model?: string; cwd?: string } {
  const usable = agents.filter(({ unavailable }) => unavailable === undefined);
  const known = agents.map(({ id }) => id).join(", ");
  if (wanted !== undefined) {
    const found = agents.find(({ id }) => id === wanted);
    if (!found) throw new RunError(`Unknown agent or provider ${wanted}. Available: ${known}.`);
    if (found.unavailable) throw new RunError(`${found.unavailable.message} ${found.unavailable.remedy}`);
    const last = recent.find((used) => used.agent === wanted)?.model;
    const first = model ?? last ?? found.models[0]?.id;
    return chosen(found, first);
  }
  const last = recent.find(({ agent }) => usable.some(({ id }) => id === agent));
  const found = usable.find(({ id }) => id === last?.agent) ?? usable.find(({ scripted }) => !scripted);
  if (!found) {
    const remedies = agents.flatMap(({ unavailable, title }) =>
      unavailable ? [`${title}: ${unavailable.remedy}`] : [],
    );
    throw new RunError(
      `No provider is configured yet.\n${remedies.join("\n")}\nTo try it without a model: --provider scripted --model discovery.`,
    );
  }
  const first = model ?? last?.model ?? found.models[0]?.id;
  return chosen(found, first);
}

function chosen({ id, title, cwd }: AgentsReply["agents"][number], model: string | undefined) {
  return { id, title, ...(model === undefined ? {} : { model }), ...(cwd === undefined ? {} : { cwd }) };
}

/** Follows the session until its first turn has ended. */
async function follow(options: RunOptions, session_id: string): Promise<TurnStatus> {
  const begun = await call(options, "GET", `/api/sessions/${session_id}`, sessionReply);
  const printer = createPrinter(options.write);
  const answerRequests = createAnswerer(options, session_id);
  let transcript: Transcript = emptyTranscript(session_id);
  // The daemon still keeps all frames of the session, so start from the first one, not from the current position.
  let position = { epoch: begun.epoch, seq: 0 };
  let lost_at: number | undefined;
  for (;;) {
    const ended = await connection(
      options,
      session_id,
      () => position,
      async (message) => {
        lost_at = undefined;
        switch (message.type) {
          case "snapshot":
            if (message.page === undefined) return undefined;
            position = { epoch: message.epoch, seq: message.seq };
            transcript = restoreTranscript({ ...message.page, session_id });
            break;
          case "frames":
            for (const { seq, frame } of message.frames) {
              if (message.epoch !== position.epoch || seq <= position.seq) continue;
              position = { epoch: message.epoch, seq };
              transcript = accumulate(transcript, frame);
              if (options.as === "json") await options.write(`${safe(JSON.stringify(frame))}\n`);
            }
            break;
          case "refused":
            throw new RunError(message.message);
          default:
            return undefined;
        }
        if (options.as === "text") await printer.print(transcript);
        answerRequests(transcript);
        const [turn] = transcript.turns;
        return turn !== undefined && turn.status !== "running" ? turn.status : undefined;
      },
    );
    if (ended !== undefined) return ended;
    lost_at ??= Date.now();
    if (Date.now() - lost_at > GIVE_UP_MS) {
      throw new RunError(
        `The daemon at ${options.origin} no longer answers. The session may still be running there.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}

/** One socket connection. Resolves with the first result of `take`, or with `undefined` if the connection is lost. */
function connection(
  { origin, token }: RunOptions,
  session_id: string,
  position: () => { epoch: string; seq: number },
  take: (message: z.infer<typeof serverMessage>) => Promise<TurnStatus | undefined>,
): Promise<TurnStatus | undefined> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${origin.replace("http", "ws")}/api/live`, {
      headers: { authorization: `Bearer ${token}` },
    });
    let work = Promise.resolve();
    const settle = (end: () => void) => {
      socket.removeAllListeners("message");
      socket.close();
      end();
    };
    socket.on("open", () => {
      const { epoch, seq } = position();
      const channel = outputChannel(session_id);
      socket.send(
        JSON.stringify({ type: "subscribe", channel, epoch, after_seq: seq } satisfies ClientMessage),
      );
    });
    socket.on("message", (data) => {
      work = work
        .then(async () => {
          const status = await take(serverMessage.parse(JSON.parse(data.toString())));
          if (status !== undefined) settle(() => resolve(status));
        })
        .catch((error: unknown) => settle(() => reject(error)));
    });
    // Errors show up as failing reconnects.
    socket.on("error", () => {});
    socket.on("close", () => void work.then(() => resolve(undefined)));
  });
}

/**
 * Asks the user at the terminal about open requests: each once, unless it is answered elsewhere, and one at a time, because
 * readline cannot ask a second question while one is open.
 */
function createAnswerer(options: RunOptions, session_id: string): (transcript: Transcript) => void {
  const asked = new Map<string, AbortController>();
  let before = Promise.resolve();
  return (transcript) => {
    for (const part of transcript.parts) {
      if (part?.type !== "request") continue;
      const known = asked.get(part.id);
      if (part.outcome !== undefined) known?.abort();
      if (part.outcome !== undefined || known) continue;
      const closed = new AbortController();
      asked.set(part.id, closed);
      if (options.ask) {
        const signal = AbortSignal.any([options.stop, closed.signal]);
        before = before
          .then(() => answer(options, session_id, part.request, signal))
          .catch((error: unknown) => {
            // A withdrawn question is not an error.
            if (!signal.aborted) options.warn(messageOf(error));
          });
      } else {
        options.warn(`Waiting for an answer in the browser: ${visibleLine(part.request.title)}`);
      }
    }
  };
}

async function answer(
  options: RunOptions,
  session_id: string,
  request: Request,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const { title, kind, subject } = request;
  // Other output may come in between, so print the subject directly above the choices.
  const about = [visibleLine(title), subjectText(request)];
  if (kind === "approval" && subject !== undefined) about.push(subjectSize(subject));
  options.warn(about.filter((text) => text !== "").join("\n"));
  const choices = request.options.map(({ label }, index) => `${index + 1} ${visibleLine(label)}`).join("   ");
  const asked_at = options.now();
  const reply = await options.ask?.(choices === "" ? "> " : `${choices}\n> `, signal);
  if (reply === undefined || signal.aborted) return;
  const isUnread = kind === "approval" && options.now() - asked_at < UNREAD_MS;
  const given = isUnread ? undefined : answerOf(request, reply);
  if (given === undefined) {
    options.warn(
      isUnread
        ? "That was typed before the question could be read."
        : "Enter the number of one of the choices.",
    );
    return await answer(options, session_id, request, signal);
  }
  await call(options, "POST", `/api/sessions/${session_id}/requests/${request.request_id}`, answerReply, {
    ...(request.digest === undefined ? {} : { digest: request.digest }),
    answer: given,
  });
}

/** `undefined`: the line is not a valid answer. */
function answerOf(request: Request, reply: string): Answer | undefined {
  const numbers = reply.trim().split(/[\s,]+/);
  const chosen = numbers.map((number) => request.options[Number(number) - 1]?.id);
  const isChoice = chosen.length > 0 && chosen.every((id) => id !== undefined);
  if (isChoice && (chosen.length === 1 || request.multiple === true)) return { option_ids: chosen };
  return request.free_text === true && reply.trim() !== "" ? { option_ids: [], text: reply } : undefined;
}

/** Sends a request to the daemon and validates the reply. Throws a `RunError` if it is refused or there is no reply. */
export async function call<Schema extends z.ZodType>(
  { origin, token }: Pick<RunOptions, "origin" | "token">,
  method: "GET" | "POST",
  path: string,
  schema: Schema,
  body?: unknown,
): Promise<z.infer<Schema>> {
  const reply = await fetch(origin + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new RunError(`The daemon at ${origin} does not answer: ${cause}.`);
  });
  const text = await reply.text();
  const value: unknown = text === "" ? undefined : JSON.parse(text);
  if (reply.ok) return schema.parse(value);
  const refusal = errorReply.safeParse(value).data?.error;
  throw new RunError(
    refusal
      ? [refusal.message, refusal.remedy ?? ""].join(" ").trim()
      : `${path}: the daemon replied with status ${reply.status}.`,
  );
}
