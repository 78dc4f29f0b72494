import { asNumber, asObject, asString, type JsonObject } from "../../model/narrow.ts";
import type { Format, RegistryEntry, SessionPath } from "../contract.ts";
import { outputFileIn } from "../conversation/output-file.ts";
import { createLineReader } from "../lines/lines.ts";
import { parsePath } from "./path.ts";
import { createClaudeCodeReader } from "./reader.ts";
import { createRequestLog } from "./request-log.ts";

/** Claude Code 1.0 to 2.1: one JSONL file per session. Since 2.0.28 sub-agents have separate files. */
export const claudeCode: Format = {
  id: "claude-code",
  name: "Claude Code",
  root: {
    variable: "CLAUDE_CONFIG_DIR",
    home: ".claude",
    folders: ["projects"],
    others: [{ home: ".config/claude", folders: ["projects"] }],
  },
  // `<pid>.<hash>.key` in the same folder are secrets.
  registry: { folder: "sessions", isEntry: (name) => /^\d+\.json$/.test(name), read: readRegistry },
  classify,
  detect,
  closesSteps: true,
  outputFile(session_path, recorded_path) {
    // The file of a run is in `<session>/subagents`.
    const run = /^(.*)[\\/]subagents[\\/]/.exec(session_path);
    const folder = run?.[1] ?? session_path.replace(/\.jsonl(\.zst)?$/, "");
    return outputFileIn(`${folder}/tool-results`, recorded_path);
  },
  createReader: createClaudeCodeReader,
  createRequestLog,
};

/**
 * Values of `waitingFor` while a turn waits for its user. With other values (`dialog open`: `/model` and other menus) the turn
 * may be over.
 */
const WAITS_IN_TURN = new Set(["permission prompt", "input needed", "sandbox request", "worker request"]);

/**
 * Reads `<pid>.json` of a live process (Claude Code 2.1). `status` is `idle`, `busy`, `shell` (the turn is over, a background
 * shell is running) or `waiting`. It is absent right after the start and in older versions. Unknown values are ignored.
 */
function readRegistry(_name: string, text: string): RegistryEntry | undefined {
  const entry = asObject(JSON.parse(text));
  const session_id = asString(entry?.sessionId);
  const pid = asNumber(entry?.pid);
  if (entry === undefined || session_id === undefined || pid === undefined) return undefined;
  const started = asString(entry.procStart);
  const pid_namespace = /^linux:.*:pid:\[(\d+)\]$/.exec(asString(entry.pidDomain) ?? "")?.[1];
  const since = asNumber(entry.statusUpdatedAt) ?? asNumber(entry.updatedAt);
  const state = stateOf(asString(entry.status), asString(entry.waitingFor));
  return {
    session_id: session_id.toLowerCase(),
    pid,
    ...(started !== undefined && { started }),
    ...(pid_namespace !== undefined && { pid_namespace }),
    ...state,
    // `cli` in a terminal; `sdk-cli` for `claude -p`, `sdk-ts` and `sdk-py` for the Agent SDK.
    ...(asString(entry.entrypoint)?.startsWith("sdk") && { headless: true }),
    ...(state !== undefined && since !== undefined && { since }),
  };
}

function stateOf(
  status: string | undefined,
  waiting_for: string | undefined,
): Pick<RegistryEntry, "busy" | "waiting" | "background"> | undefined {
  switch (status) {
    case "idle":
      return { busy: false };
    case "busy":
      return { busy: true };
    case "shell":
      return { busy: false, background: true };
    case "waiting":
      return {
        ...(waiting_for !== undefined && WAITS_IN_TURN.has(waiting_for) && { busy: true }),
        waiting: { ...(waiting_for !== undefined && { for: waiting_for }) },
      };
    default:
      return undefined;
  }
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

/** Line types that only this agent uses. */
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
  // The first line may be longer than the head, or the file may be one line without a newline.
  if (lines.settle().some(({ value }) => value !== undefined && isOwn(value))) return true;
  const text = new TextDecoder().decode(head.subarray(0, 4096)).trimStart();
  return text.startsWith('{"') && /"(parentUuid|isSidechain|leafUuid)":/.test(text);
}

function isOwn(value: JsonObject): boolean {
  const type = asString(value.type) ?? "";
  if (OWN_TYPES.has(type)) return true;
  if (type === "summary") return "leafUuid" in value;
  const message = asObject(value.message);
  // Qwen Code uses the same envelope for messages with `parts`.
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
  // The output of `claude -p` begins with the hooks, if there are any.
  const begins = ["hook_response", "hook_started", "init"].includes(asString(value.subtype) ?? "");
  return type === "system" && begins && "session_id" in value;
}
