import { uuidOf } from "./uuid-of.ts";

/** Builds a session file of Claude Code 2.1.197, record by record. `agent_id`: of a sub-agent's file. */
export class ClaudeSessionFile {
  private readonly lines: string[] = [];
  private clock: number;
  private parent: string | null = null;
  private readonly id: string;
  private readonly agent_id: string | undefined;

  constructor(id: string, started_at: number, agent_id?: string) {
    this.id = id;
    this.clock = started_at;
    this.agent_id = agent_id;
  }

  record(type: string, fields: object): void {
    this.clock += 1_500;
    const uuid = uuidOf(`${this.id} ${this.agent_id ?? ""} ${this.lines.length}`);
    this.lines.push(
      JSON.stringify({
        parentUuid: this.parent,
        isSidechain: this.agent_id !== undefined,
        ...(this.agent_id !== undefined && { agentId: this.agent_id }),
        cwd: "/home/ada/harbour",
        sessionId: this.id,
        version: "2.1.197",
        type,
        ...fields,
        uuid,
        timestamp: new Date(this.clock).toISOString(),
      }),
    );
    this.parent = uuid;
  }
  prompt(content: string): void {
    this.record("user", { message: { role: "user", content } });
  }
  private step(block: object, stop_reason: string | null): void {
    const id = `msg_${this.id.slice(0, 8)}${this.agent_id ?? ""}_${this.lines.length}`;
    const usage = { input_tokens: 4, cache_read_input_tokens: 12_000, output_tokens: 120 };
    this.record("assistant", {
      message: {
        id,
        type: "message",
        role: "assistant",
        model: "claude-opus-4-7",
        content: [block],
        stop_reason,
        usage,
      },
    });
  }
  text(text: string): void {
    this.step({ type: "text", text }, "end_turn");
  }
  call(name: string, input: object, output: string, fields: { is_error?: true; result?: object } = {}): void {
    const id = `toolu_${this.id.slice(0, 8)}${this.agent_id ?? ""}_${this.lines.length}`;
    this.step({ type: "tool_use", id, name, input }, "tool_use");
    const result = {
      type: "tool_result",
      tool_use_id: id,
      content: output,
      is_error: fields.is_error === true,
    };
    this.record("user", {
      message: { role: "user", content: [result] },
      ...(fields.result !== undefined && { toolUseResult: fields.result }),
    });
  }
  /** The content of the file. */
  content(): string {
    return this.lines.map((line) => `${line}\n`).join("");
  }
}
