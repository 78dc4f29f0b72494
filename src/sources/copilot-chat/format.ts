import { asText, type JsonObject } from "../../model/narrow.ts";
import type { Format } from "../contract.ts";
import { firstMembers, textOfHead } from "../conversation/head.ts";
import { EDITOR_FOLDERS } from "../editor-folders.ts";
import { recordLinesFormat } from "../lines/record-lines.ts";
import { chatReader } from "./reader.ts";
import { ID } from "./state.ts";
import { chatSessions, hasSession, mayContainSessions, storeOf } from "./stores.ts";

/**
 * Chat in VS Code with GitHub Copilot: sessions that VS Code itself stores (stores.ts), and those exported by `Chat: Export
 * Chat…`. Written from microsoft/vscode, src/vs/workbench/contrib/chat/common: `model/chatModel.ts` (`ISerializableChatData3`,
 * `IExportableChatData`), `model/chatSessionStore.ts` (folders and files), `model/chatSessionOperationLog.ts` (which fields the
 * log compares), `chatService/chatService.ts` (kinds of response items), `attachments/chatVariableEntries.ts`,
 * `tools/languageModelToolsService.ts`, and from the extension, extensions/copilot/src/extension/prompt/common/conversation.ts
 * (`IResultMetadata`) and toolCallRound.ts. Compared with a session of October 2025 in the tests of git-ai's agent presets, a
 * public session that Copilot Chat 0.64.1 exported, and the kinds and fields that public decoders list
 * (rajbos/github-copilot-token-usage, docs/logFilesSchema).
 */
export const copilotChat: Format = recordLinesFormat({
  id: ID,
  name: "Copilot Chat (VS Code)",
  root: {
    // Verbatim's own variable: VS Code has none.
    variable: "COPILOT_CHAT_HOME",
    home: ".",
    folders: EDITOR_FOLDERS.flatMap((folder) => [
      `${folder}/workspaceStorage`,
      `${folder}/globalStorage/emptyWindowChatSessions`,
      `${folder}/globalStorage/transferredChatSessions`,
    ]),
  },
  classify: () => undefined,
  detect: isSessionHead,
  recordsTurnEnds: true,
  snapshots: {
    storeOf,
    recognizes: hasSession,
    sessions: chatSessions,
    mayContainStores: mayContainSessions,
  },
  reader: chatReader,
});

const LOG_START = '{"kind":0,"v":';

/** Whether a head is the start of a session: a log of changes, a stored document, or an exported one. */
function isSessionHead(head: Uint8Array): boolean {
  const text = textOfHead(head);
  if (text.startsWith(LOG_START)) {
    const line = text.slice(LOG_START.length).split("\n", 1)[0] ?? "";
    const value = line.endsWith("}}") ? line.slice(0, -1) : line;
    return isSessionStart(firstMembers(new TextEncoder().encode(value)));
  }
  return isSessionStart(firstMembers(head));
}

/** `requests` may be cut off. */
const isSessionStart = (value: JsonObject | undefined): boolean =>
  value !== undefined &&
  (value.requests === undefined || Array.isArray(value.requests)) &&
  typeof value.responderUsername === "string" &&
  (typeof value.initialLocation === "string" || asText(value.sessionId) !== undefined);
