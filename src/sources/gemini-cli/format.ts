import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { Format, OpenStore, SnapshotRecord, SnapshotSession } from "../contract.ts";
import { outputFileIn } from "../conversation/output-file.ts";
import { type Document, readDocument } from "../documents/document.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { geminiReader } from "./reader.ts";

/**
 * Gemini CLI: JSONL since 0.40, before that one document per session that is rewritten at each change. Both contain the same
 * messages. A sub-agent's file is in a folder named after the session that started it.
 */
export const geminiCli: Format = recordLinesFormat({
  id: "gemini-cli",
  name: "Gemini CLI",
  root: { variable: "GEMINI_CLI_HOME", home: ".", folders: [".gemini/tmp"] },
  classify(path) {
    const [, run] = /(?:^|\/)chats\/(.+\/)?[^/]+\.jsonl$/.exec(path) ?? [];
    if (!/(?:^|\/)chats\/.*\.jsonl$/.test(path)) return undefined;
    return { kind: run === undefined ? "session" : "run" };
  },
  detect(head) {
    const [line = ""] = new TextDecoder().decode(head).split("\n", 1);
    return /^﻿?\s*\{"sessionId"\s*:/.test(line) && /"projectHash"\s*:/.test(line);
  },
  snapshots: {
    storeOf: (path) => (/(?:^|\/)chats\/.*\.json$/.test(path) ? path : undefined),
    recognizes: (store) => isSession(readDocument(store, store.path)?.value),
    sessions,
  },
  outputFile(session_path, recorded_path) {
    const project = /^(.*)[\\/]chats[\\/]/.exec(session_path)?.[1];
    return project === undefined ? undefined : outputFileIn(`${project}/tool-outputs`, recorded_path);
  },
  reader: geminiReader,
});

const isSession = (value: JsonObject | undefined): boolean =>
  asText(value?.sessionId) !== undefined && Array.isArray(value?.messages);

function* sessions(store: OpenStore): Generator<SnapshotSession> {
  const document = readDocument(store, store.path);
  if (document === undefined || !isSession(document.value)) return;
  yield {
    name: asString(document.value.sessionId) ?? store.path,
    kind: document.value.kind === "subagent" ? "run" : "session",
    modified_at: store.modifiedAt(store.path) ?? 0,
    records: () => recordsOf(document),
  };
}

function* recordsOf(document: Document): Generator<SnapshotRecord> {
  const { messages, ...header } = document.value;
  yield { ...document.record("header", [], header), text: JSON.stringify(header) };
  const keys = new Map<string, number>();
  for (const [index, message] of asArray(messages).entries()) {
    const value = asObject(message);
    const key = `message:${asText(value?.type) ?? ""}:${asText(value?.id) ?? index}`;
    const copies = keys.get(key) ?? 0;
    keys.set(key, copies + 1);
    yield document.record(copies === 0 ? key : `${key}#${copies}`, ["messages", index], message);
  }
}
