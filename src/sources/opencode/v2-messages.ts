import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";

// The messages of opencode 2, in the shapes that opencode 1 wrote.

/** The parts of a person's message. */
export function userParts(data: JsonObject): JsonObject[] {
  const text = asString(data.text) ?? "";
  const files = asArray(data.files).map((each) => filePart(asObject(each) ?? { raw: each }));
  const named = (type: string, list: unknown) =>
    asArray(list).map((each) => ({ ...(asObject(each) ?? { name: asText(each) }), type }));
  return [
    ...(text === "" && files.length > 0 ? [] : [{ type: "text", text }]),
    ...files,
    ...named("agent", data.agents),
    ...named("skill", data.skills),
  ];
}

/** The parts of an answer: its content, and parts whose place changes (`key`). */
export function assistantParts(data: JsonObject): JsonObject[] {
  const parts = asArray(data.content).map((each) => contentPart(asObject(each) ?? { raw: each }));
  const retry = asObject(data.retry);
  const files = asArray(asObject(data.snapshot)?.files);
  return [
    ...parts,
    ...(retry === undefined ? [] : [{ ...retry, type: "retry", key: "retry", error: { data: retry.error } }]),
    ...(files.length === 0 ? [] : [{ type: "patch", key: "patch", files }]),
  ];
}

function contentPart(part: JsonObject): JsonObject {
  const time = asObject(part.time) ?? {};
  const { created, ran, completed } = time;
  if (part.type === "reasoning") return { ...part, time: { start: created, end: completed } };
  if (part.type !== "tool") return part;
  const state = asObject(part.state) ?? {};
  return {
    type: "tool",
    tool: part.name,
    callID: part.id,
    state: { ...toolState(state), time: { start: ran ?? created, end: completed } },
  };
}

function toolState(state: JsonObject): JsonObject {
  const metadata = asObject(state.metadata) ?? asObject(state.structured) ?? {};
  const content = asArray(state.content).map((each) => asObject(each) ?? { raw: each });
  const error = asObject(state.error);
  const texts = content.flatMap((each) => asString(each.text) ?? []);
  // Arguments that are still streamed are an incomplete text.
  const isWhole = asObject(state.input) !== undefined;
  return {
    status: isWhole ? state.status : "pending",
    input: isWhole ? state.input : {},
    output: joined([...texts, asString(error?.message) ?? ""]),
    attachments: content.filter((each) => typeof each.text !== "string").map(filePart),
    metadata: {
      ...metadata,
      ...(metadata.sessionID !== undefined && { sessionId: metadata.sessionID }),
      ...(error?.type === "aborted" && { interrupted: true }),
    },
  };
}

const joined = (texts: readonly string[]): string =>
  texts.reduce(
    (all, text) => (text === "" ? all : `${all}${all === "" || all.endsWith("\n") ? "" : "\n"}${text}`),
    "",
  );

/** A command that a person ran, as a call. */
export function shellPart(data: JsonObject): JsonObject {
  const { created, completed } = asObject(data.time) ?? {};
  const isRunning = data.status === "running";
  return {
    type: "tool",
    tool: "shell",
    callID: data.shellID,
    state: {
      status: isRunning ? "running" : "completed",
      input: { command: asString(data.command) ?? "" },
      output: asString(asObject(data.output)?.output) ?? asString(data.output) ?? "",
      metadata: { exit: data.exit, ...(data.status === "killed" && { interrupted: true }) },
      time: { start: created, end: completed },
    },
  };
}

/** The end of a message; `undefined`: it has none. */
export function finishOf({ time, finish, error, cost, tokens }: JsonObject): JsonObject | undefined {
  if (asObject(time)?.completed === undefined && error === undefined && finish === undefined)
    return undefined;
  const failure = asObject(error);
  return {
    time,
    finish,
    cost,
    tokens,
    ...(failure !== undefined && { error: { name: errorName(failure), data: failure } }),
  };
}

function errorName({ type }: JsonObject): string {
  if (type === "aborted") return "MessageAbortedError";
  return type === "output_length" ? "MessageOutputLengthError" : (asText(type) ?? "unknown");
}

function filePart(file: JsonObject): JsonObject {
  const url = asText(file.uri);
  return url === undefined ? file : { type: "file", url, mime: file.mime, filename: file.name };
}
