import { asNumber, asObject, asString, type JsonObject } from "../../model/narrow.ts";
import type { Format, SessionPath } from "../format.ts";
import { createLineReader } from "../lines.ts";
import { parsePath } from "./path.ts";
import { createClaudeCodeReader } from "./reader.ts";

/** Claude Code, 1.0 to 2.1: one file of JSON lines per session, sub-agents in files of their own since 2.0.28. */
export const claudeCode: Format = {
  id: "claude-code",
  name: "Claude Code",
  root: { variable: "CLAUDE_CONFIG_DIR", home: ".claude", folders: ["projects"] },
  registry: { folder: "sessions", read: readRegistry },
  classify,
  detect,
  closesSteps: true,
  createReader: createClaudeCodeReader,
};

/** `<pid>.json` of a process that runs; `-p` says no `status`, the UI says `busy`, `idle`, `shell`… */
function readRegistry(_name: string, text: string): ReturnType<NonNullable<Format["registry"]>["read"]> {
  const entry = asObject(JSON.parse(text));
  const session_id = asString(entry?.sessionId);
  if (session_id === undefined || typeof entry?.pid !== "number") return undefined;
  const status = asString(entry.status);
  const since = asNumber(entry.statusUpdatedAt);
  return {
    session_id: session_id.toLowerCase(),
    pid: entry.pid,
    ...(status !== undefined && { busy: status !== "idle", ...(since !== undefined && { since }) }),
  };
}

function classify(path: string): SessionPath | undefined {
  if (!path.endsWith(".jsonl")) return undefined;
  const segments = path.split("/");
  if (segments.includes("tool-results")) return undefined;
  const { stem, agent_id } = parsePath(path);
  // A workflow's journal, and the helper that writes a compaction's summary.
  if (stem === "journal" || stem === "history" || agent_id?.startsWith("acompact-") === true)
    return undefined;
  if (agent_id !== undefined) return { kind: "run", side: path.replace(/\.jsonl$/, ".meta.json") };
  return { kind: "session" };
}

/** Types that no other agent's lines have. */
const OWN_TYPES = new Set([
  "agent-name",
  "ai-title",
  "custom-title",
  "file-history-snapshot",
  "last-prompt",
  "permission-mode",
  "queue-operation",
]);

function detect(head: Uint8Array): boolean {
  const lines = createLineReader();
  const records = lines.push(head);
  if (records.some(({ value }) => value !== undefined && isOwn(value))) return true;
  if (records.some(({ value }) => value !== undefined)) return false;
  // The first line is longer than the head, or the file is one line without its newline.
  if (lines.settle().some(({ value }) => value !== undefined && isOwn(value))) return true;
  const text = new TextDecoder().decode(head.subarray(0, 4096)).trimStart();
  return text.startsWith('{"') && /"(parentUuid|isSidechain|leafUuid)":/.test(text);
}

function isOwn(value: JsonObject): boolean {
  const type = asString(value.type) ?? "";
  if (OWN_TYPES.has(type)) return true;
  if (type === "summary") return "leafUuid" in value;
  const message = asObject(value.message);
  // Qwen Code writes the same envelope around messages with `parts`.
  if (message !== undefined && "parts" in message) return false;
  if ("parentUuid" in value && ("isSidechain" in value || "sessionId" in value)) {
    return type !== "system" || !("systemPayload" in value);
  }
  if (type === "user" || type === "assistant") {
    return (
      "uuid" in value &&
      !("payload" in value) &&
      (message === undefined || "content" in message || "id" in message)
    );
  }
  return type === "system" && value.subtype === "init" && "session_id" in value;
}
