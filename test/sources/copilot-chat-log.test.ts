import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { copilotChat } from "../../src/sources/copilot-chat/format.ts";
import { replay } from "../../src/sources/copilot-chat/mutation-log.ts";
import {
  COMPLETE,
  invocation,
  markdown,
  partsOfType,
  request,
  SESSION,
  type Shown,
  session,
  shown,
  thought,
  uri,
  workspace,
} from "./copilot-chat-support.ts";
import { type FollowedSession, look, openStore } from "./store-reading.ts";

const set = (k: (string | number)[], v: unknown) => ({ kind: 1, k, v });
const push = (k: (string | number)[], v?: unknown[], i?: number) => ({ kind: 2, k, v, i });
const start = { kind: 0, v: session([], { customTitle: undefined }) };
const RESPONSE = ["requests", 0, "response"];
const command = (more: object) =>
  invocation("call_1", "run_in_terminal", {
    toolSpecificData: { kind: "terminal", commandLine: { original: "npm test" } },
    ...more,
  });

/** A request that runs, is answered, and is followed by others, one of which is undone. */
const CHANGES = [
  start,
  push(["requests"], [request("1", "Fix it", [], { modelState: { value: 0 } })]),
  push(RESPONSE, [thought("Look."), markdown("I run")]),
  push(RESPONSE, [markdown("I run the tests."), command({ isConfirmed: undefined })], 1),
  set(["requests", 0, "modelState"], { value: 4 }),
  set(["requests", 0, "modelState"], { value: 0 }),
  push(RESPONSE, [command({ pastTenseMessage: markdown("Ran it") }), markdown("They pass.")], 2),
  set(["customTitle"], "Fix the tide table"),
  set(["requests", 0, "result"], {
    timings: {},
    metadata: {
      toolCallRounds: [
        {
          toolCalls: [
            { id: "call_1__vscode-3", name: "run_in_terminal", arguments: '{"command":"npm test"}' },
          ],
        },
      ],
      toolCallResults: { "call_1__vscode-3": { content: [{ value: "2 passed" }] } },
    },
  }),
  set(["requests", 0, "modelState"], COMPLETE),
  set(["requests", 0, "completionTokens"], 7),
  push(["requests"], [request("2", "And Oslo?", [markdown("Oslo too.")])]),
  { kind: 3, k: ["requests", 1, "vote"] },
  push(["requests"], [request("3", "No, Bergen", [markdown("Bergen.")])], 1),
];

const lines = (changes: readonly object[]): string =>
  changes.map((change) => `${JSON.stringify(change)}\n`).join("");

/** What a reader of the page sees, without what was withdrawn. */
function content({ kept }: Shown): string[] {
  return kept
    .filter(({ type }) => !/^step_|unknown/.test(type))
    .map((part) => {
      switch (part.type) {
        case "text":
          return `x ${part.text}`;
        case "thinking":
          return `T ${part.thinking}`;
        case "prompt":
          return `U ${JSON.stringify(part.parts)}`;
        case "tool_call":
          return `c ${part.tool_name} ${part.arguments_json}`;
        case "tool_result":
          return `r ${part.output_text}`;
        default:
          return part.type;
      }
    });
}

const only = (sessions: Map<string, FollowedSession>): FollowedSession => {
  const [first] = sessions.values();
  if (first === undefined) throw new Error("No session");
  return first;
};

describe("the log of changes", () => {
  it("gives at each change the same parts as the document that it describes", () => {
    const { write, storage } = workspace();
    const followed = new Map<string, FollowedSession>();
    for (let count = 2; count <= CHANGES.length; count += 1) {
      const text = lines(CHANGES.slice(0, count));
      write(`${SESSION}.jsonl`, text);
      look(copilotChat, openStore(storage), followed);
      const other = workspace();
      other.write(`${SESSION}.json`, JSON.stringify(replay(text)));
      const whole = shown(only(look(copilotChat, openStore(other.storage))));
      expect(content(shownSoFar(only(followed))), `after change ${count}`).toEqual(content(whole));
    }
    const live = shown(only(followed));
    expect(content(live)).toEqual([
      'U [{"type":"text","text":"Fix it"}]',
      "T Look.",
      "x I run the tests.",
      'c run_in_terminal {"command":"npm test"}',
      "r 2 passed",
      "x They pass.",
      'U [{"type":"text","text":"No, Bergen"}]',
      "x Bergen.",
    ]);
    expect(live.statuses).toBe("completed completed completed");
    // The tokens were written after the end.
    expect(partsOfType(live, "step_finish").map(({ tokens }) => tokens?.output)).toContain(7);
    expect(live.facts).toMatchObject({ title: "Fix the tide table" });
  });

  it("leaves a call open while it runs or waits for the user", () => {
    const { write, storage } = workspace();
    write(`${SESSION}.jsonl`, lines(CHANGES.slice(0, 5)));
    const running = shownSoFar(only(look(copilotChat, openStore(storage))));
    expect(partsOfType(running, "tool_result")).toEqual([]);
    expect(running.statuses).toBe("running");
  });

  it("ends the call of the last step when its result is written", () => {
    const { write, storage } = workspace();
    const followed = new Map<string, FollowedSession>();
    write(`${SESSION}.jsonl`, lines(CHANGES.slice(0, 5)));
    look(copilotChat, openStore(storage), followed);
    // Without a text after it, and without an end.
    const done = push(RESPONSE, [command({ pastTenseMessage: markdown("Ran it") })], 2);
    write(`${SESSION}.jsonl`, lines([...CHANGES.slice(0, 5), done]));
    look(copilotChat, openStore(storage), followed);
    const state = only(followed).reader.checkpoint?.()?.state ?? "";
    expect(state).toContain('"answered":true');
    expect(state).not.toContain('"answered":false');
  });

  it("shows items that are written after the end of their request before the end of the turn", () => {
    const { write, storage } = workspace();
    const followed = new Map<string, FollowedSession>();
    const ended = [...CHANGES.slice(0, 3), set(["requests", 0, "modelState"], COMPLETE)];
    write(`${SESSION}.jsonl`, lines(ended));
    look(copilotChat, openStore(storage), followed);
    write(`${SESSION}.jsonl`, lines([...ended, push(RESPONSE, [command({}), markdown("Done.")])]));
    look(copilotChat, openStore(storage), followed);
    const live = shown(only(followed));
    expect(content(live).at(-1)).toBe("x Done.");
    expect(live.statuses).toBe("completed");
  });

  it("goes on with a log that was rewritten as one line", () => {
    const { write, storage } = workspace();
    const followed = new Map<string, FollowedSession>();
    write(`${SESSION}.jsonl`, lines(CHANGES));
    look(copilotChat, openStore(storage), followed);
    const count = only(followed).lines.length;
    write(`${SESSION}.jsonl`, lines([{ kind: 0, v: replay(lines(CHANGES)) }]));
    look(copilotChat, openStore(storage), followed);
    expect(only(followed).lines).toHaveLength(count);
  });

  it("ignores a line that is being written, and paths that lead nowhere", () => {
    const text = lines([
      start,
      push(["requests"], [request("1", "Hi", [])]),
      set(["requests", 7, "message"], "x"),
      set(["requests", "__proto__", "polluted"], "x"),
      set(["__proto__"], { polluted: true }),
      push(["requests", 0, "response", "none"], [1]),
      set(["requests", 1e9], "x"),
    ]);
    const state = replay(`${text}{"kind":1,"k":["customTitle"],"v":"Half`);
    expect(state).toMatchObject({ requests: [{ requestId: "request_1" }] });
    expect(state?.requests).toHaveLength(1);
    expect("polluted" in {}).toBe(false);
    expect(state).not.toHaveProperty("polluted");
    expect(replay("")).toBeUndefined();
  });
});

describe("files", () => {
  it("reads the log of a session that also has an older document, and the folder of all windows", () => {
    const { write, storage, root } = workspace();
    write(`${SESSION}.json`, JSON.stringify(session([request("1", "Old", [])])));
    write(`${SESSION}.jsonl`, lines(CHANGES));
    write("other.json", JSON.stringify(session([request("1", "Other", [markdown("Yes.")])])));
    const { snapshots } = copilotChat;
    const path = `${storage}/chatSessions/${SESSION}.jsonl`;
    expect(snapshots?.storeOf(path)).toBe(storage);
    expect(snapshots?.storeOf(`${root}/globalStorage/emptyWindowChatSessions/a.json`)).toBe(
      `${root}/globalStorage/emptyWindowChatSessions`,
    );
    expect(snapshots?.storeOf(`${storage}/state.vscdb`)).toBeUndefined();
    const names = [...(snapshots?.sessions(openStore(storage)) ?? [])].map(({ name }) => name);
    expect(names).toEqual([SESSION, "other"]);
    expect([...look(copilotChat, openStore(path)).keys()]).toEqual([SESSION]);
  });

  it("searches only the folders of sessions in a workspace's storage", () => {
    const { snapshots } = copilotChat;
    const searched = (path: string) => snapshots?.mayContainStores?.(path);
    expect(searched(".config/Code/User/workspaceStorage/1a")).toBe(true);
    expect(searched(".config/Code/User/workspaceStorage/1a/chatSessions")).toBe(true);
    expect(searched(".config/Code/User/workspaceStorage/1a/redhat.java")).toBe(false);
  });

  it("recognizes a log and an exported chat by their first bytes", () => {
    const head = (value: object) => new TextEncoder().encode(JSON.stringify(value)).subarray(0, 65_536);
    const {
      sessionId: _,
      creationDate: __,
      ...exported
    } = session([request("1", "Hi", [markdown("x".repeat(70_000))])]);
    expect(copilotChat.detect(head(start))).toBe(true);
    expect(copilotChat.detect(head({ kind: 0, v: session([request("1", "x".repeat(70_000), [])]) }))).toBe(
      true,
    );
    expect(copilotChat.detect(head(exported))).toBe(true);
    expect(copilotChat.detect(head({ requests: [] }))).toBe(false);
    const { root } = workspace();
    const path = `${root}/chat.json`;
    writeFileSync(path, JSON.stringify(exported));
    expect(copilotChat.snapshots?.recognizes(openStore(path))).toBe(true);
    expect(shown(only(look(copilotChat, openStore(path)))).order).toBe("U x");
  });

  it("waits for a log that is being replaced", () => {
    const { write, storage } = workspace();
    write(`${SESSION}.jsonl`, "");
    expect(() => look(copilotChat, openStore(storage))).toThrow("contains no whole session");
  });
});

it("reads a document with any value in any place", () => {
  const document = session([
    request(
      "1",
      "Fix it",
      [
        thought(["Look."]),
        markdown("In "),
        { kind: "inlineReference", inlineReference: { uri: uri("/a"), range: { startLineNumber: 1 } } },
        command({ resultDetails: { input: "{}", output: [{ type: "embed", isText: true, value: "a" }] } }),
        invocation("sub", "runSubagent", {
          toolSpecificData: { kind: "subagent", prompt: "Go", result: "Went" },
        }),
        invocation("n", "copilot_readFile", { subAgentInvocationId: "sub", resultDetails: [uri("/a")] }),
        invocation("e", "copilot_createFile"),
        { kind: "textEditGroup", uri: uri("/a"), edits: [[{ text: "a", range: { startLineNumber: 1 } }]] },
        {
          kind: "questionCarousel",
          questions: [{ id: "q", options: [{ label: "A", value: "a" }] }],
          data: { q: "a" },
        },
        { kind: "treeData", treeData: { label: "src", uri: uri("/src"), children: [{ label: "a" }] } },
      ],
      {
        variableData: { variables: [{ kind: "image", id: "i", name: "a.png", value: { 0: 1 } }] },
        slashCommand: { name: "fix" },
        modeInfo: { kind: "agent", modeId: "agent" },
        contentReferences: [{ kind: "reference", reference: { variableName: "v", value: uri("/a") } }],
        result: {
          errorDetails: { message: "No" },
          metadata: {
            renderedUserMessage: [{ type: 1, text: "a" }],
            toolCallRounds: [
              {
                toolCalls: [{ id: "e__vscode-1", name: "create_file", arguments: "{}" }],
                usage: { prompt_tokens: 1, completion_tokens: 1 },
              },
            ],
            toolCallResults: {
              "e__vscode-1": {
                content: [{ value: { node: { type: 1, children: [{ type: 2, text: "a" }] } } }],
              },
            },
          },
        },
      },
    ),
  ]);
  const { write, storage } = workspace();
  for (const path of placesIn(document)) {
    if (path[0] === "requests" && path.length === 1) continue;
    for (const odd of [null, "\ud800 odd", [[null, 7]], { never: "seen", children: [null] }]) {
      write(`${SESSION}.json`, JSON.stringify(changed(document, path, odd)));
      const [session] = look(copilotChat, openStore(storage)).values();
      const fates = session?.records.map(({ disposition }) => disposition.kind) ?? [];
      expect(fates, `${JSON.stringify(odd)} at ${path.join(".")}`).not.toContain("unreadable");
    }
  }
});

/** The places of all values in a document. */
function placesIn(value: unknown): (string | number)[][] {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const step = Array.isArray(value) ? Number(name) : name;
    return [[step], ...placesIn(inner).map((path) => [step, ...path])];
  });
}

/** A copy with another value in a place. */
function changed(value: unknown, path: readonly (string | number)[], odd: unknown): unknown {
  const copy: unknown = structuredClone(value);
  let at = copy as Record<string | number, unknown>;
  // The path was found in the value.
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
  at[path.at(-1) ?? ""] = odd;
  return copy;
}

/** What is shown while a session goes on. */
function shownSoFar(followed: FollowedSession): Shown {
  return shown({ ...followed, reader: { ...followed.reader, close: () => [] } });
}
