import { createIds, type TimedLine } from "./claude-code.ts";

interface CodexCall {
  kind: "exec" | "patch" | "view_image" | "other";
  name?: string;
  arguments?: Record<string, unknown>;
  cmd?: string;
  patch?: string;
  /** The changes of `apply_patch`, in the form of Codex's own event. */
  changes?: Record<string, unknown>;
  path?: string;
  output: unknown;
  exit_code?: number;
  /** Seconds. */
  takes?: number;
}

interface CodexStep {
  /** One summary of the reasoning, in Markdown; `""`: encrypted, without a summary. */
  think?: string;
  text?: string;
  calls?: CodexCall[];
  search?: string;
  tokens?: [input: number, cached: number, output: number, reasoning: number];
  wait?: number;
  /** The turn's last answer. */
  final?: boolean;
  /** A person stops the step while its last call runs. */
  interrupt?: boolean;
}

export interface CodexSessionOptions {
  id: string;
  cwd: string;
  git_branch: string;
  start: string;
  model?: string;
}

/** Writes a session like Codex 0.169 in its default history mode (`paginated`). */
export class CodexSession {
  readonly lines: TimedLine[] = [];
  readonly ids: ReturnType<typeof createIds>;
  now: number;
  private turn = "";
  private turnStart = 0;
  private history = 0;
  private total = { input: 0, cached: 0, output: 0, reasoning: 0 };
  private readonly options: CodexSessionOptions;

  constructor(options: CodexSessionOptions) {
    this.options = options;
    this.ids = createIds(options.id);
    this.now = Date.parse(options.start);
    this.line("session_meta", {
      session_id: options.id,
      id: options.id,
      timestamp: options.start,
      cwd: options.cwd,
      runtime_workspace_roots: [options.cwd],
      originator: "codex-tui",
      cli_version: "0.169.0",
      source: "cli",
      thread_source: "user",
      model_provider: "openai",
      base_instructions: {
        text: "You are Codex, a coding agent. You and the user share one workspace.",
        provenance: { type: "model", model: this.model },
      },
      history_mode: "paginated",
      git: { commit_hash: this.ids.hex(40), branch: options.git_branch },
    });
  }

  private get model(): string {
    return this.options.model ?? "gpt-5.5";
  }

  line(type: string, payload: Record<string, unknown>, extra: Record<string, unknown> = {}): void {
    this.lines.push({
      at: this.now,
      value: {
        timestamp: new Date(this.now).toISOString(),
        ordinal: this.lines.length,
        type,
        payload,
        ...extra,
      },
    });
    this.now += 8;
  }

  private item(payload: Record<string, unknown>, kinds?: string[]): void {
    this.history += 1;
    this.line(
      "response_item",
      {
        ...payload,
        internal_chat_message_metadata_passthrough: {
          turn_id: this.turn,
          create_time: this.now / 1000,
          ...(kinds && { content_item_kinds: kinds }),
        },
      },
      { metadata: { history_sequence: this.history, client_authored: false } },
    );
  }

  private completed(item: Record<string, unknown>, took = 0): void {
    this.line("event_msg", {
      type: "item_completed",
      thread_id: this.options.id,
      turn_id: this.turn,
      item,
      started_at_ms: this.now - took,
      completed_at_ms: this.now,
    });
  }

  private uuid7(): string {
    const time = this.now.toString(16).padStart(12, "0");
    const rest = this.ids.hex(32);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-9${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
  }

  prompt(text: string, images: string[] = []): void {
    this.turn = this.uuid7();
    this.turnStart = this.now;
    this.line("event_msg", {
      type: "task_started",
      turn_id: this.turn,
      root_turn_id: this.turn,
      started_at: Math.floor(this.now / 1000),
      model_context_window: 258_400,
      collaboration_mode_kind: "default",
    });
    if (this.history === 0) {
      const context = `<environment_context>\n  <cwd>${this.options.cwd}</cwd>\n  <shell>bash</shell>\n  <timezone>Europe/Oslo</timezone>\n</environment_context>`;
      this.item(
        {
          type: "message",
          id: `msg_${this.uuid7()}`,
          role: "user",
          content: [{ type: "input_text", text: context }],
        },
        ["environments.environment_context"],
      );
    }
    this.line("turn_context", {
      turn_id: this.turn,
      root_turn_id: this.turn,
      cwd: this.options.cwd,
      approval_policy: "on-request",
      model: this.model,
      effort: "medium",
      collaboration_mode: { mode: "default", settings: { model: this.model } },
      summary: "auto",
      sandbox_policy: { type: "workspace-write" },
    });
    this.item(
      {
        type: "message",
        id: `msg_${this.uuid7()}`,
        role: "user",
        content: [
          { type: "input_text", text },
          ...images.map((image_url) => ({ type: "input_image", image_url })),
        ],
      },
      ["user.text", ...images.map(() => "user.image")],
    );
    this.completed({
      type: "UserMessage",
      id: this.uuid7(),
      content: [
        { type: "text", text, text_elements: [] },
        ...images.map((image_url) => ({ type: "image", image_url })),
      ],
    });
  }

  step(step: CodexStep): void {
    const response = `resp_${this.ids.hex(24)}`;
    const phase = step.final === true ? "final_answer" : "commentary";
    this.now += step.wait ?? 2_400;
    if (step.think !== undefined) {
      const id = `rs_${this.ids.hex(24)}`;
      this.now += 900 + step.think.length * 5;
      const summary = step.think === "" ? [] : [step.think];
      this.completed({ type: "Reasoning", id, summary_text: summary, raw_content: [] });
      this.item({
        type: "reasoning",
        id,
        summary: summary.map((text) => ({ type: "summary_text", text })),
        content: null,
        encrypted_content: `gAAAAAB${this.ids.hex(60)}`,
      });
    }
    if (step.search !== undefined) {
      const id = `ws_${this.ids.hex(24)}`;
      const action = { type: "search", query: step.search, queries: [step.search] };
      this.now += 1_700;
      this.completed({ type: "WebSearch", id, query: step.search, action });
      this.item({ type: "web_search_call", id, status: "completed", action });
    }
    if (step.text !== undefined) {
      const id = `msg_${this.ids.hex(24)}`;
      this.now += 600;
      this.completed({ type: "AgentMessage", id, content: [{ type: "Text", text: step.text }], phase });
      this.item({
        type: "message",
        id,
        role: "assistant",
        content: [{ type: "output_text", text: step.text, annotations: [] }],
        phase,
      });
    }
    const calls = (step.calls ?? []).map((call) => {
      const call_id = `call_${this.ids.hex(24)}`;
      this.now += 60;
      if (call.kind === "patch") {
        this.item({
          type: "custom_tool_call",
          id: `ctc_${this.ids.hex(24)}`,
          status: "completed",
          call_id,
          name: "apply_patch",
          input: call.patch,
        });
      } else {
        const name =
          call.kind === "exec"
            ? "exec_command"
            : call.kind === "view_image"
              ? "view_image"
              : (call.name ?? "other");
        const input =
          call.kind === "exec"
            ? { cmd: call.cmd }
            : call.kind === "view_image"
              ? { path: call.path }
              : call.arguments;
        this.item({
          type: "function_call",
          id: `fc_${this.ids.hex(24)}`,
          name,
          arguments: JSON.stringify(input),
          call_id,
        });
      }
      return { call, call_id };
    });
    const [input, cached, output, reasoning] = step.tokens ?? [14_200, 11_900, 310, 120];
    this.total = {
      input: this.total.input + input,
      cached: this.total.cached + cached,
      output: this.total.output + output,
      reasoning: this.total.reasoning + reasoning,
    };
    const usage = counts(input, cached, output, reasoning);
    const total = counts(this.total.input, this.total.cached, this.total.output, this.total.reasoning);
    this.line("token_usage_record", {
      thread_id: this.options.id,
      turn_id: this.turn,
      session_id: this.options.id,
      response_id: response,
      usage,
      thread_token_usage: total,
    });
    calls.forEach(({ call, call_id }, index) => {
      const took = Math.round((call.takes ?? 0.3) * 1000);
      this.now += took;
      const stopped = step.interrupt === true && index === calls.length - 1;
      this.complete(call, call_id, took, stopped);
    });
    if (step.interrupt === true) {
      this.item(
        {
          type: "message",
          id: `msg_${this.uuid7()}`,
          role: "user",
          content: [
            {
              type: "input_text",
              text: "<turn_aborted>\nThe user interrupted the previous turn on purpose. Any running unified exec processes may still be running in the background. If any tools/commands were aborted, they may have partially executed.\n</turn_aborted>",
            },
          ],
        },
        ["generic.turn_aborted"],
      );
      this.line("event_msg", {
        type: "turn_aborted",
        root_turn_id: this.turn,
        turn_id: this.turn,
        reason: "interrupted",
        started_at: Math.floor(this.turnStart / 1000),
        completed_at: Math.floor(this.now / 1000),
        duration_ms: this.now - this.turnStart,
      });
      return;
    }
    this.line("event_msg", {
      type: "token_count",
      info: { total_token_usage: total, last_token_usage: usage, model_context_window: 258_400 },
      rate_limits: { limit_id: "codex", primary: null, secondary: null },
    });
  }

  private complete(call: CodexCall, call_id: string, took: number, stopped: boolean): void {
    const seconds = (took / 1000).toFixed(4);
    if (call.kind === "exec") {
      const exit_code = stopped ? -1 : (call.exit_code ?? 0);
      const output = String(call.output);
      const event = {
        type: "CommandExecution",
        id: call_id,
        process_id: String(10_000 + this.lines.length),
        command: ["/bin/bash", "-lc", call.cmd],
        cwd: `file://${this.options.cwd}`,
        parsed_cmd: [{ type: "unknown", cmd: call.cmd }],
        source: "unified_exec_startup",
        status: exit_code === 0 ? "completed" : "failed",
        aggregated_output: output,
        exit_code,
        duration: { secs: Math.floor(took / 1000), nanos: (took % 1000) * 1_000_000 },
      };
      if (!stopped) this.completed(event, took);
      this.item({
        type: "function_call_output",
        id: `fco_${this.uuid7()}`,
        call_id,
        output: stopped
          ? `Wall time: ${(took / 1000).toFixed(1)} seconds\naborted by user`
          : `Chunk ID: ${this.ids.hex(6)}\nWall time: ${seconds} seconds\nProcess exited with code ${exit_code}\nOriginal token count: ${Math.ceil(output.length / 4)}\nOutput:\n${output}`,
      });
    } else if (call.kind === "patch") {
      this.completed({
        type: "FileChange",
        id: call_id,
        changes: call.changes,
        status: "completed",
        stdout: String(call.output),
        stderr: "",
      });
      this.item({
        type: "custom_tool_call_output",
        id: `ctco_${this.uuid7()}`,
        call_id,
        output: `Exit code: 0\nWall time: 0 seconds\nOutput:\n${String(call.output)}`,
      });
    } else {
      if (call.kind === "view_image")
        this.completed({ type: "ImageView", id: call_id, path: `file://${call.path}` });
      this.item({
        type: "function_call_output",
        id: `fco_${this.uuid7()}`,
        call_id,
        output: call.output,
      });
    }
  }

  /** A plan that Codex proposes: a separate item, and a message that repeats it. */
  plan(text: string): void {
    this.now += 2_000;
    const id = `msg_${this.ids.hex(24)}`;
    this.completed({ type: "Plan", id: `${this.turn}-plan`, text });
    this.item({
      type: "message",
      id,
      role: "assistant",
      content: [{ type: "output_text", text: `<proposed_plan>\n${text}\n</proposed_plan>`, annotations: [] }],
      phase: "final_answer",
    });
  }

  end(last_agent_message: string | null, error?: string): void {
    this.line("event_msg", {
      type: "task_complete",
      root_turn_id: this.turn,
      turn_id: this.turn,
      last_agent_message,
      ...(error !== undefined && { error: { message: error } }),
      started_at: Math.floor(this.turnStart / 1000),
      completed_at: Math.floor(this.now / 1000),
      duration_ms: this.now - this.turnStart,
    });
  }
}

function counts(input: number, cached: number, output: number, reasoning: number) {
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    cache_write_input_tokens: 0,
    output_tokens: output,
    reasoning_output_tokens: reasoning,
    total_tokens: input + output,
  };
}

export const exec = (cmd: string, output: string, exit_code = 0, takes = 0.3): CodexCall => ({
  kind: "exec",
  cmd,
  output,
  exit_code,
  takes,
});
