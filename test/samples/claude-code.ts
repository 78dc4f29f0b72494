import { createHash } from "node:crypto";

/** One line of a session file with the time at which it was written. */
export interface TimedLine {
  at: number;
  value: Record<string, unknown>;
}

/** Deterministic ids: the same story gives the same bytes. */
export function createIds(seed: string) {
  let count = 0;
  const hex = (length: number) => {
    count += 1;
    return createHash("sha256").update(`${seed}:${count}`).digest("hex").slice(0, length);
  };
  return {
    hex,
    uuid() {
      const digits = hex(32);
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
    },
    /** Anthropic's ids: a prefix and 24 letters and digits. */
    prefixed: (prefix: string) => `${prefix}_01${hex(22)}`,
  };
}

/** A tool call with the result that it will get. */
export interface Tool {
  name: string;
  input: Record<string, unknown>;
  /** Milliseconds that it takes. */
  takes?: number;
  content: unknown;
  /** Claude Code's `toolUseResult`. */
  structured?: unknown;
  is_error?: boolean;
  /** A sub-agent's run, with its own session. */
  run?: { type: string; description: string; story: (child: ClaudeSession) => void };
}

interface Step {
  think?: string;
  text?: string;
  tools?: Tool[];
  /** The order in which the tools finish; default: the order of the calls. */
  finish?: number[];
  tokens?: [input: number, cached: number, output: number];
  /** Milliseconds that the model takes before its first block. */
  wait?: number;
  /** Typed by a person while the tools run. */
  queued?: string;
  /** A person stops the step while its last tool runs. */
  interrupt?: boolean;
}

export interface ClaudeSessionOptions {
  id: string;
  cwd: string;
  git_branch: string;
  start: string;
  model?: string;
  version?: string;
}

interface AgentFile {
  agent_id: string;
  lines: TimedLine[];
  meta: Record<string, unknown>;
}

/** Writes a session like Claude Code 2.1.19x in its terminal interface. */
export class ClaudeSession {
  readonly lines: TimedLine[] = [];
  readonly agents: AgentFile[];
  readonly ids: ReturnType<typeof createIds>;
  now: number;
  private parent: string | null = null;
  private promptId = "";
  private turnStart = 0;
  private readonly options: ClaudeSessionOptions;
  private readonly agent: { agent_id: string; type: string; depth: number } | undefined;

  constructor(
    options: ClaudeSessionOptions,
    agent?: { agent_id: string; type: string; depth: number; promptId: string; agents: AgentFile[] },
  ) {
    this.options = options;
    this.agent = agent;
    this.agents = agent?.agents ?? [];
    this.promptId = agent?.promptId ?? "";
    this.ids = createIds(agent === undefined ? options.id : `${options.id}/${agent.agent_id}`);
    this.now = Date.parse(options.start);
  }

  get id(): string {
    return this.options.id;
  }

  private get time(): string {
    return new Date(this.now).toISOString();
  }

  private envelope() {
    return {
      userType: "external",
      entrypoint: "cli",
      cwd: this.options.cwd,
      sessionId: this.options.id,
      version: this.options.version ?? "2.1.197",
      gitBranch: this.options.git_branch,
    };
  }

  /** A line outside the conversation's tree, as it is. */
  bare(value: Record<string, unknown>): void {
    this.lines.push({ at: this.now, value });
  }

  /** A line of the conversation's tree. Returns its uuid, which is the parent of the next one. */
  node(value: Record<string, unknown>, parent = this.parent): string {
    const uuid = this.ids.uuid();
    this.lines.push({
      at: this.now,
      value: {
        parentUuid: parent,
        isSidechain: this.agent !== undefined,
        ...(this.agent !== undefined && { agentId: this.agent.agent_id }),
        ...value,
        uuid,
        timestamp: this.time,
        ...this.envelope(),
      },
    });
    this.parent = uuid;
    return uuid;
  }

  begin(): void {
    this.bare({ type: "mode", mode: "normal", sessionId: this.options.id });
    this.bare({ type: "permission-mode", permissionMode: "acceptEdits", sessionId: this.options.id });
  }

  title(aiTitle: string): void {
    this.bare({ type: "ai-title", aiTitle, sessionId: this.options.id });
  }

  /** A person's prompt, or in a run the task from its parent. */
  prompt(content: unknown): void {
    if (this.agent !== undefined) {
      this.node({ promptId: this.promptId, type: "user", message: { role: "user", content } });
      return;
    }
    this.promptId = this.ids.uuid();
    this.turnStart = this.now;
    const messageId = this.ids.uuid();
    this.bare({
      type: "file-history-snapshot",
      messageId,
      snapshot: { messageId, trackedFileBackups: {}, timestamp: this.time },
      isSnapshotUpdate: false,
    });
    this.node({
      promptId: this.promptId,
      type: "user",
      message: { role: "user", content },
      permissionMode: "acceptEdits",
      origin: { kind: "human" },
      promptSource: "typed",
    });
  }

  step(step: Step): void {
    const tools = step.tools ?? [];
    const [input, cached, output] = step.tokens ?? [6, 18_400, 220];
    const id = this.ids.prefixed("msg");
    const requestId = this.ids.prefixed("req");
    this.now += step.wait ?? 1_900;
    const answer = (block: Record<string, unknown>): string =>
      this.node({
        message: {
          id,
          type: "message",
          role: "assistant",
          model: this.options.model ?? "claude-opus-4-8",
          content: [block],
          stop_reason: tools.length > 0 ? "tool_use" : "end_turn",
          stop_sequence: null,
          usage: {
            input_tokens: input,
            cache_creation_input_tokens: Math.round(output * 3.2),
            cache_read_input_tokens: cached,
            output_tokens: output,
            server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
            service_tier: "standard",
          },
        },
        requestId,
        ...(this.agent !== undefined && { attributionAgent: this.agent.type }),
        type: "assistant",
      });
    if (step.think !== undefined) {
      answer({ type: "thinking", thinking: step.think, signature: `Es${this.ids.hex(40)}` });
      this.now += 700 + step.think.length * 4;
    }
    if (step.text !== undefined) {
      answer({ type: "text", text: step.text });
      this.now += 400;
    }
    const calls = tools.map((tool) => {
      const call_id = this.ids.prefixed("toolu");
      const uuid = answer({ type: "tool_use", id: call_id, name: tool.name, input: tool.input });
      const started = this.now;
      this.now += 180;
      return { tool, call_id, uuid, started };
    });
    const runs = calls.map((call) => (call.tool.run === undefined ? undefined : this.startRun(call)));
    if (step.queued !== undefined) this.enqueue(step.queued);
    for (const index of step.finish ?? calls.map((_, index) => index)) {
      const call = calls[index];
      if (call === undefined) throw new Error(`No call ${index} in this step`);
      const run = runs[index];
      this.now = Math.max(this.now + 90, run?.now ?? call.started + (call.tool.takes ?? 320));
      const stopped = step.interrupt === true && index === calls.length - 1;
      this.node(
        {
          promptId: this.promptId,
          type: "user",
          message: {
            role: "user",
            content: [
              {
                tool_use_id: call.call_id,
                type: "tool_result",
                content: stopped ? REJECTED : (run?.content ?? call.tool.content),
                ...((stopped || call.tool.is_error !== undefined) && {
                  is_error: stopped || call.tool.is_error,
                }),
              },
            ],
          },
          ...(this.agent === undefined && {
            toolUseResult: stopped ? "User rejected tool use" : (run?.structured ?? call.tool.structured),
          }),
          sourceToolAssistantUUID: call.uuid,
        },
        call.uuid,
      );
    }
    if (step.interrupt === true) {
      this.now += 12;
      this.node({
        promptId: this.promptId,
        type: "user",
        message: {
          role: "user",
          content: [
            {
              type: "text",
              text: `[Request interrupted by user${tools.length > 0 ? " for tool use" : ""}]`,
            },
          ],
        },
        interruptedMessageId: id,
      });
    }
    if (step.queued !== undefined) {
      const attachment = { type: "queued_command", prompt: step.queued, commandMode: "prompt" };
      this.bare({
        type: "queue-operation",
        operation: "remove",
        timestamp: this.time,
        sessionId: this.options.id,
      });
      this.node({
        attachment: { ...attachment, origin: { kind: "human" }, timestamp: this.time },
        type: "attachment",
      });
    }
  }

  private enqueue(content: string): void {
    this.now += 1_400;
    const { id: sessionId } = this.options;
    this.bare({ type: "queue-operation", operation: "enqueue", timestamp: this.time, sessionId, content });
  }

  private startRun(call: { tool: Tool; call_id: string; started: number }) {
    const run = call.tool.run;
    if (run === undefined) throw new Error("Not a run");
    const agent_id = `a${this.ids.hex(16)}`;
    const depth = (this.agent?.depth ?? 0) + 1;
    const child = new ClaudeSession(
      { ...this.options, start: new Date(call.started + 15).toISOString() },
      { agent_id, type: run.type, depth, promptId: this.promptId, agents: this.agents },
    );
    this.agents.push({
      agent_id,
      lines: child.lines,
      meta: {
        agentType: run.type,
        description: run.description,
        toolUseId: call.call_id,
        spawnDepth: depth,
      },
    });
    child.prompt(call.tool.input.prompt);
    run.story(child);
    const text = child.lastText();
    const calls = child.lines.filter((line) =>
      JSON.stringify(line.value).includes('"type":"tool_use"'),
    ).length;
    const totalDurationMs = child.now - call.started;
    return {
      now: child.now + 40,
      content: [
        { type: "text", text },
        ...(run.type === "Explore"
          ? []
          : [
              {
                type: "text",
                text: `agentId: ${agent_id} (use SendMessage with to: '${agent_id}', summary: '<5-10 word recap>' to continue this agent)\n<usage>subagent_tokens: ${21_300 + calls * 840}\ntool_uses: ${calls}\nduration_ms: ${totalDurationMs}</usage>`,
              },
            ]),
      ],
      structured: {
        status: "completed",
        prompt: call.tool.input.prompt,
        agentId: agent_id,
        agentType: run.type,
        content: [{ type: "text", text }],
        resolvedModel: this.options.model ?? "claude-opus-4-8",
        totalDurationMs,
        totalTokens: 21_300 + calls * 840,
        totalToolUseCount: calls,
      },
    };
  }

  private lastText(): string {
    for (const { value } of this.lines.toReversed()) {
      const found = /"type":"text","text":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(value));
      if (value.type === "assistant" && found?.[1] !== undefined) return String(JSON.parse(found[1]));
    }
    return "";
  }

  /** The request failed and is retried. */
  retry(attempt: number, retryInMs: number): void {
    this.node({
      type: "system",
      subtype: "api_error",
      level: "error",
      error: {
        status: 529,
        headers: { "content-type": "application/json", "x-should-retry": "true" },
        requestID: this.ids.prefixed("req"),
        error: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      },
      retryInMs,
      retryAttempt: attempt,
      maxRetries: 10,
    });
    this.now += retryInMs;
  }

  /** The request finally failed: the turn ends with a synthetic assistant line that reports it. */
  apiError(text: string): void {
    this.now += 2_000;
    this.node({
      type: "assistant",
      message: {
        id: this.ids.uuid(),
        container: null,
        model: "<synthetic>",
        role: "assistant",
        stop_reason: "stop_sequence",
        stop_sequence: "",
        type: "message",
        usage: {
          input_tokens: 0,
          output_tokens: 0,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
        },
        content: [{ type: "text", text }],
        context_management: null,
      },
      error: "server_error",
      isApiErrorMessage: true,
    });
  }

  compact(preTokens: number, postTokens: number, summary: string): void {
    this.now += 14_000;
    const logicalParentUuid = this.parent;
    const boundary = this.node(
      {
        logicalParentUuid,
        type: "system",
        subtype: "compact_boundary",
        content: "Conversation compacted",
        isMeta: false,
        level: "info",
        compactMetadata: { trigger: "auto", preTokens, durationMs: 13_870, postTokens },
      },
      null,
    );
    this.node(
      {
        promptId: this.promptId,
        type: "user",
        message: {
          role: "user",
          content: `This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n${summary}\n\nContinue the conversation from where it left off without asking the user any further questions.`,
        },
        isVisibleInTranscriptOnly: true,
        isCompactSummary: true,
      },
      boundary,
    );
  }

  /** The agent yields: the terminal interface records the duration of the turn. */
  end(): void {
    this.now += 60;
    this.node({
      type: "system",
      subtype: "turn_duration",
      durationMs: this.now - this.turnStart,
      messageCount: this.lines.length,
      isMeta: false,
    });
  }

  lastPrompt(lastPrompt: string): void {
    const { id: sessionId } = this.options;
    this.bare({ type: "last-prompt", lastPrompt, leafUuid: this.parent, sessionId });
  }
}

const REJECTED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";

// --- Tools, with results like Claude Code's ---------------------------------------------------------------------------

export function read(path: string, content: string, takes?: number): Tool {
  const lines = content.split("\n");
  return {
    name: "Read",
    input: { file_path: path },
    ...(takes !== undefined && { takes }),
    content: lines.map((line, index) => `${index + 1}\t${line}`).join("\n"),
    structured: {
      type: "text",
      file: { filePath: path, content, numLines: lines.length, startLine: 1, totalLines: lines.length },
    },
  };
}

export function readImage(path: string, base64: string, width: number, height: number): Tool {
  return {
    name: "Read",
    input: { file_path: path },
    content: [{ type: "image", source: { type: "base64", data: base64, media_type: "image/png" } }],
    structured: {
      type: "image",
      file: {
        base64,
        type: "image/png",
        originalSize: Buffer.from(base64, "base64").length,
        dimensions: {
          originalWidth: width,
          originalHeight: height,
          displayWidth: width,
          displayHeight: height,
        },
      },
    },
  };
}

export function bash(command: string, description: string, output: string, takes?: number): Tool {
  return {
    name: "Bash",
    input: { command, description },
    ...(takes !== undefined && { takes }),
    content: output,
    structured: {
      stdout: output,
      stderr: "",
      interrupted: false,
      isImage: false,
      noOutputExpected: output === "",
    },
    is_error: false,
  };
}

export function failingBash(command: string, description: string, code: number, output: string): Tool {
  const content = `Exit code ${code}\n${output}`;
  return {
    name: "Bash",
    input: { command, description },
    takes: 2_600,
    content,
    structured: `Error: ${content}`,
    is_error: true,
  };
}

export function grep(pattern: string, path: string, hits: string[]): Tool {
  const filenames = [...new Set(hits.map((hit) => hit.split(":")[0] ?? hit))];
  return {
    name: "Grep",
    input: { pattern, path, output_mode: "content", "-n": true },
    content: hits.length === 0 ? "No matches found" : hits.join("\n"),
    structured: {
      mode: "content",
      numFiles: filenames.length,
      filenames,
      content: hits.join("\n"),
      numLines: hits.length,
    },
  };
}

export function glob(pattern: string, filenames: string[]): Tool {
  return {
    name: "Glob",
    input: { pattern },
    content: filenames.length === 0 ? "No files found" : filenames.join("\n"),
    structured: { filenames, durationMs: 14, numFiles: filenames.length, truncated: false },
  };
}

/** An edit of one place: `before` is at line `at` of the file. */
export function edit(path: string, at: number, before: string, after: string, around: string[]): Tool {
  const old = before.split("\n");
  const next = after.split("\n");
  const [lead = "", tail = ""] = around;
  const lines = [` ${lead}`, ...old.map((line) => `-${line}`), ...next.map((line) => `+${line}`), ` ${tail}`];
  return {
    name: "Edit",
    input: { file_path: path, old_string: before, new_string: after, replace_all: false },
    content: `The file ${path} has been updated successfully. (file state is current in your context — no need to Read it back)`,
    structured: {
      filePath: path,
      oldString: before,
      newString: after,
      originalFile: [lead, before, tail].join("\n"),
      structuredPatch: [
        { oldStart: at, oldLines: old.length + 2, newStart: at, newLines: next.length + 2, lines },
      ],
      userModified: false,
      replaceAll: false,
    },
  };
}

export function write(path: string, content: string): Tool {
  return {
    name: "Write",
    input: { file_path: path, content },
    content: `File created successfully at: ${path} (file state is current in your context — no need to Read it back)`,
    structured: {
      type: "create",
      filePath: path,
      content,
      structuredPatch: [],
      originalFile: null,
      userModified: false,
    },
  };
}

type Todo = { content: string; status: "pending" | "in_progress" | "completed"; activeForm: string };
export function todos(before: Todo[], after: Todo[]): Tool {
  return {
    name: "TodoWrite",
    input: { todos: after },
    content:
      "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable",
    structured: { oldTodos: before, newTodos: after },
  };
}

export function agent(
  type: string,
  description: string,
  prompt: string,
  story: (child: ClaudeSession) => void,
): Tool {
  return {
    name: "Agent",
    input: { description, prompt, subagent_type: type },
    content: "",
    run: { type, description, story },
  };
}
