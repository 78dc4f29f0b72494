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

/** One prompt, run by the daemon at `origin` and shown in the terminal. */
interface RunOptions {
  /** `http://127.0.0.1:4747` */
  origin: string;
  /** The daemon's `api_token`. */
  token: string;
  /** Lets a browser in, for whoever wants to watch there. */
  link: string;
  prompt: string;
  /** Provider or configured agent, by id. Absent: what was used last, or the first that can be used. */
  agent?: string;
  model?: string;
  /** Absolute path: where it works unless it has a folder of its own. */
  cwd: string;
  /** Absolute path: where it works in any case. */
  wanted_cwd?: string;
  /** `json`: the session's frames, a line each. */
  as: "text" | "json";
  write(text: string): Promise<void>;
  /** What is not the transcript: lines without the last one's end. */
  warn(text: string): void;
  /** Asks whoever sits at the terminal, and gives their line. Absent: nobody does, and requests wait for a browser. */
  ask?(question: string, signal: AbortSignal): Promise<string>;
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
  /** Aborted: the turn is stopped. */
  stop: AbortSignal;
}

/** Why a run could not begin or go on: for the person, with what to do. */
export class RunError extends Error {
  override readonly name = "RunError";
}

/** Nobody has read so soon what an approval is about: a line then was meant for what was asked before. */
const UNREAD_MS = 300;
const RECONNECT_MS = 250;
/** The daemon is given up after so long without it. */
const GIVE_UP_MS = 30_000;

/**
 * Starts a session, follows its first turn to the end, and gives the exit code: 0 completed, 1 failed, 130 interrupted. The
 * frames that arrive are folded by the reducer that the page uses. Throws `RunError`.
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
    if (!found) throw new RunError(`There is no agent or provider ${wanted}. There are: ${known}.`);
    if (found.unavailable) throw new RunError(`${found.unavailable.message} ${found.unavailable.remedy}`);
    const last = recent.find((used) => used.agent === wanted)?.model;
    const first = model ?? last ?? found.models[0]?.id;
    return chosen(found, first);
  }
  const last = recent.find(({ agent }) => usable.some(({ id }) => id === agent));
  const found = usable.find(({ id }) => id === last?.agent) ?? usable.find(({ scripted }) => !scripted);
  if (!found) {
    const ways = agents.flatMap(({ unavailable, title }) =>
      unavailable ? [`${title}: ${unavailable.remedy}`] : [],
    );
    throw new RunError(
      `No provider can be used yet.\n${ways.join("\n")}\nTo try it without a model: --provider scripted --model discovery.`,
    );
  }
  const first = model ?? last?.model ?? found.models[0]?.id;
  return chosen(found, first);
}

function chosen({ id, title, cwd }: AgentsReply["agents"][number], model: string | undefined) {
  return { id, title, ...(model === undefined ? {} : { model }), ...(cwd === undefined ? {} : { cwd }) };
}

/** Follows the session until its first turn is over. */
async function follow(options: RunOptions, session_id: string): Promise<TurnStatus> {
  const begun = await call(options, "GET", `/api/sessions/${session_id}`, sessionReply);
  const printer = createPrinter(options.write);
  const answerRequests = createAnswerer(options, session_id);
  let transcript: Transcript = emptyTranscript(session_id);
  // All frames since the session began are still held: from the first one on, not from where it stands now.
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
        `The daemon at ${options.origin} does not answer any more; the session may go on there.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}

/** One socket's life. Resolves with what `take` gives first, or with `undefined` when the connection is lost. */
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
    // What is wrong shows in the next connection, or in the time that passes without one.
    socket.on("error", () => {});
    socket.on("close", () => void work.then(() => resolve(undefined)));
  });
}

/**
 * Asks the person at the terminal what waits for an answer: each once, as long as nobody answered it elsewhere. One after
 * the other: what is asked while a question is open, readline never asks.
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
            // A question that was taken back is no failure.
            if (!signal.aborted) options.warn(messageOf(error));
          });
      } else {
        options.warn(`It waits for an answer in the browser: ${visibleLine(part.request.title)}`);
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
  // Several may be printed above, or into a file: what is answered stands directly above the choices.
  const about = [visibleLine(title), subjectText(request)];
  if (kind === "approval" && subject !== undefined) about.push(subjectSize(subject));
  options.warn(about.filter((text) => text !== "").join("\n"));
  const choices = request.options.map(({ label }, index) => `${index + 1} ${visibleLine(label)}`).join("   ");
  const asked_at = options.now();
  const said = await options.ask?.(choices === "" ? "> " : `${choices}\n> `, signal);
  if (said === undefined || signal.aborted) return;
  const isUnread = kind === "approval" && options.now() - asked_at < UNREAD_MS;
  const given = isUnread ? undefined : answerOf(request, said);
  if (given === undefined) {
    options.warn(
      isUnread ? "That was typed before it could be read." : "Give the number of one of the choices.",
    );
    return await answer(options, session_id, request, signal);
  }
  await call(options, "POST", `/api/sessions/${session_id}/requests/${request.request_id}`, answerReply, {
    ...(request.digest === undefined ? {} : { digest: request.digest }),
    answer: given,
  });
}

/** `undefined`: the line is no answer. */
function answerOf(request: Request, said: string): Answer | undefined {
  const numbers = said.trim().split(/[\s,]+/);
  const chosen = numbers.map((number) => request.options[Number(number) - 1]?.id);
  const isChoice = chosen.length > 0 && chosen.every((id) => id !== undefined);
  if (isChoice && (chosen.length === 1 || request.multiple === true)) return { option_ids: chosen };
  return request.free_text === true && said.trim() !== "" ? { option_ids: [], text: said } : undefined;
}

/** Asks the daemon, and checks its reply. Throws a `RunError` where it refuses or does not answer. */
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
      : `${path}: the daemon answers ${reply.status}.`,
  );
}
