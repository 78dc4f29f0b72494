import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { TranscriptPart, Turn } from "../../src/model/transcript/transcript.ts";
import { copilotChat } from "../../src/sources/copilot-chat/format.ts";
import { orderOf } from "./record-laws.ts";
import { closed, type FollowedSession, look, openStore } from "./store-reading.ts";

export const SESSION = "331fed7f-cfd6-409c-8502-06a56322b636";
export const AT = Date.UTC(2026, 1, 3, 9);

/** A URI as VS Code writes one. */
export const uri = (path: string) => ({
  $mid: 1,
  fsPath: path,
  external: `file://${path}`,
  path,
  scheme: "file",
});
export const markdown = (value: string) => ({ value, supportThemeIcons: false, supportHtml: false });
export const thought = (value: string | string[]) => ({ kind: "thinking", value, id: "t" });

/** An invocation as VS Code shows it. */
export const invocation = (toolCallId: string, toolId: string, more: object = {}) => ({
  kind: "toolInvocationSerialized",
  toolCallId,
  toolId,
  isComplete: true,
  isConfirmed: { type: 1 },
  source: { type: "internal", label: "Built-In" },
  invocationMessage: markdown(`Using ${toolId}`),
  ...more,
});

export const COMPLETE = { value: 1, completedAt: AT + 9_000 };

/** A request with its answer. */
export const request = (id: string, text: string, response: object[], more: object = {}) => ({
  requestId: `request_${id}`,
  timestamp: AT,
  message: { text, parts: [{ kind: "text", text }] },
  variableData: { variables: [] },
  agent: { id: "github.copilot.editsAgent", name: "agent", isDefault: true, extensionVersion: "0.37.1" },
  modelId: "copilot/claude-sonnet-4.5",
  response,
  modelState: COMPLETE,
  ...more,
});

/** A session as VS Code stores it. */
export const session = (requests: object[], more: object = {}) => ({
  version: 3,
  creationDate: AT,
  customTitle: "Fix the tide table",
  initialLocation: "panel",
  responderUsername: "GitHub Copilot",
  sessionId: SESSION,
  requests,
  ...more,
});

/** A folder of VS Code's data for one workspace, removed after the test. */
export function workspace(folder = "file:///home/mara/my%20tide") {
  const root = mkdtempSync(join(tmpdir(), "verbatim-copilot-chat-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const storage = join(root, "workspaceStorage/1a2b");
  mkdirSync(join(storage, "chatSessions"), { recursive: true });
  writeFileSync(join(storage, "workspace.json"), JSON.stringify({ folder }));
  return {
    root,
    storage,
    file: (name: string) => join(storage, "chatSessions", name),
    write(name: string, text: string): string {
      const path = join(storage, "chatSessions", name);
      writeFileSync(path, text);
      return path;
    },
  };
}

/** A session of a store, read to its end. */
export interface Shown {
  order: string;
  parts: TranscriptPart[];
  /** Those that were not withdrawn. */
  kept: TranscriptPart[];
  statuses: string;
  facts: Record<string, unknown>;
  fates: string;
  followed: FollowedSession;
}

/** What a followed session shows, without its sub-agents. */
export function shown(followed: FollowedSession): Shown {
  const copy = { ...followed, records: [...followed.records] };
  const { transcript, parts } = closed(ownOf(copy));
  const withdrawn = [...transcript.turns].filter((turn) => turn?.retracted !== undefined);
  const patches = copy.records.flatMap(({ frames }) =>
    frames.flatMap((frame) =>
      frame.type === "session.update" && frame.session_id === transcript.session_id ? [frame.patch] : [],
    ),
  );
  return {
    order: orderOf(parts),
    parts,
    kept: parts.filter(
      ({ retracted }, at) => retracted === undefined && !withdrawn.some((turn) => isIn(turn, at)),
    ),
    statuses: [...transcript.turns].map((turn) => turn?.status).join(" "),
    facts: Object.assign({}, ...patches) as Record<string, unknown>,
    fates: copy.records.map(({ disposition }) => disposition.kind).join(" "),
    followed,
  };
}

const isIn = (turn: Turn | undefined, at: number): boolean =>
  turn !== undefined && at >= turn.first_part && at < turn.first_part + turn.part_count;

function ownOf(followed: FollowedSession): FollowedSession {
  const id = followed.records.flatMap(({ frames }) => frames)[0]?.session_id;
  const own = (records: FollowedSession["records"]) =>
    records.map((record) => ({
      ...record,
      frames: record.frames.filter(({ session_id }) => session_id === id),
    }));
  const { reader } = followed;
  return {
    ...followed,
    records: own(followed.records),
    reader: { ...reader, close: (stopped) => own(reader.close(stopped)) },
  };
}

/** The only session of a document that is read at once. */
export function readDocument(document: object): Shown {
  const { write } = workspace();
  const path = write(`${SESSION}.json`, JSON.stringify(document));
  const [followed] = look(copilotChat, openStore(path)).values();
  if (followed === undefined) throw new Error("No session");
  return shown(followed);
}

export const partsOfType = <Type extends TranscriptPart["type"]>(
  { parts }: Pick<Shown, "parts">,
  type: Type,
): Extract<TranscriptPart, { type: Type }>[] =>
  // `filter` does not narrow a union by a variable.
  parts.filter((part) => part.type === type) as Extract<TranscriptPart, { type: Type }>[];
