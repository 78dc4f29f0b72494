import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const SESSION = "2c3d4e5f-0001-4002-8003-aabbccddeeff";
const START = Date.parse("2026-06-01T10:00:00Z");

/** The files of Continue in a folder. Each save is a minute later than the one before. */
export function continueFolder(root: string) {
  const folder = join(root, "sessions");
  const path = join(folder, `${SESSION}.json`);
  let minutes = 0;
  return {
    path,
    /** Writes the session, and the list of sessions unless it does not contain it. */
    save(history: readonly object[], facts: object = {}, isListed = true): void {
      mkdirSync(folder, { recursive: true });
      const head = { sessionId: SESSION, title: "Tide table", workspaceDirectory: "/home/mara/tide" };
      writeFileSync(path, JSON.stringify({ ...head, history, ...facts }, undefined, 2));
      const listed = { ...head, dateCreated: String(START), messageCount: 1 };
      writeFileSync(join(folder, "sessions.json"), JSON.stringify(isListed ? [listed] : []));
      minutes += 1;
      const at = START / 1000 + minutes * 60;
      utimesSync(path, at, at);
    },
  };
}

interface Call {
  id: string;
  name: string;
  input: object;
  status: string;
  /** The texts of its context items, or the items. */
  output?: readonly (string | object)[];
}

const callOf = ({ id, name, input }: Call) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});

const stateOf = (call: Call) => ({
  toolCallId: call.id,
  toolCall: callOf(call),
  status: call.status,
  parsedArgs: call.input,
  ...(call.output && {
    output: call.output.map((item) =>
      typeof item === "string"
        ? { content: item, name: "Tool Result", description: "Tool execution result" }
        : item,
    ),
  }),
});

/** An item as the command line version writes it. */
export const prompt = (content: unknown, contextItems: readonly object[] = []) => ({
  message: { role: "user", content },
  contextItems,
  editorState: content,
});

const USAGE = {
  prompt_tokens: 1000,
  completion_tokens: 10,
  total_tokens: 1010,
  model: "gpt-5.2",
  cost_cents: 1,
};

export const answer = (content: string, calls: readonly Call[] = [], usage: object = USAGE) => ({
  message: { role: "assistant", content, ...(calls.length > 0 && { toolCalls: calls.map(callOf) }), usage },
  contextItems: [],
  ...(calls.length > 0 && { toolCallStates: calls.map(stateOf) }),
});

/** A command that the user ran in the command line version. */
export const shell = (command: string, status: string, output?: string) => {
  const call = { id: "shell-1780308000000-a1b2c3", name: "Bash", input: { command }, status };
  const { message, ...item } = answer("", [{ ...call, ...(output !== undefined && { output: [output] }) }]);
  const { usage: _, ...rest } = message;
  return { message: rest, ...item };
};

/** An item as the extension writes it. */
export const item = (id: string, role: string, content: unknown, more: object = {}, fields: object = {}) => ({
  message: { id, role, content, ...fields },
  contextItems: [],
  ...more,
});

export const withCalls = (id: string, content: string, calls: readonly Call[], more: object = {}) =>
  item(
    id,
    "assistant",
    content,
    { toolCallStates: calls.map(stateOf), ...more },
    { toolCalls: calls.map(callOf) },
  );
