import { uuidOf } from "../../uuid-of.ts";
import type { Payload } from "./payloads.ts";
import { textOf } from "./payloads.ts";

/** A session file of Claude Code with every attack in every place that a session has for text. */
export interface HostileSession {
  session_id: string;
  /** One list of JSON lines per attack, its turn. */
  turns: string[][];
}

/** The harmless text before and after each attack. */
export const healthy = (id: string): string => `Healthy after ${id}.`;

/**
 * Makes the session. Every turn has a prompt that begins with the attack's id; then the attack as thinking, as answer, as
 * the name, the arguments and the output of a tool, as a command with its error, as a path that is edited and read, as an
 * address, as an attached file's name and content, as the title, the model and an error of the provider; and a healthy answer.
 */
export function hostileSession(name: string, attacks: readonly Payload[]): HostileSession {
  const session_id = uuidOf(`hostile ${name}`);
  let parent: string | null = null;
  let clock = Date.UTC(2026, 10, 20, 9, 0, 0);
  let count = 0;
  const line = (fields: object): string => {
    clock += 1_000;
    count += 1;
    const uuid = uuidOf(`${session_id} ${count}`);
    const text = JSON.stringify({
      parentUuid: parent,
      isSidechain: false,
      userType: "external",
      cwd: "/home/ada/hostile",
      sessionId: session_id,
      version: "2.1.197",
      ...fields,
      uuid,
      timestamp: new Date(clock).toISOString(),
    });
    parent = uuid;
    return text;
  };

  const turns = attacks.map(({ id, input }): string[] => {
    const attack = textOf(input);
    const lines: string[] = [];
    let step = 0;
    const says = (content: object, fields: object = {}): void => {
      step += 1;
      const message = {
        id: `msg_${id}_${step}`,
        type: "message",
        role: "assistant",
        model: "claude-opus-4-7",
        content: [content],
        stop_reason: null,
        usage: { input_tokens: 1, output_tokens: 1 },
        ...fields,
      };
      lines.push(line({ type: "assistant", message }));
    };
    const calls = (tool: string, given: object, content: unknown, is_error = false): void => {
      const call = `toolu_${id}_${lines.length}`;
      says({ type: "tool_use", id: call, name: tool, input: given });
      const result = { type: "tool_result", tool_use_id: call, content, is_error };
      lines.push(line({ type: "user", message: { role: "user", content: [result] } }));
    };
    const person = [
      { type: "text", text: `${id} ${attack}` },
      {
        type: "document",
        title: `${attack}.svg`,
        source: { type: "text", media_type: "image/svg+xml", data: attack },
      },
    ];
    lines.push(line({ type: "user", message: { role: "user", content: person } }));
    lines.push(line({ type: "custom-title", customTitle: attack }));
    says({ type: "thinking", thinking: attack, signature: "c2ln" });
    says({ type: "text", text: attack });
    calls(attack, { [attack]: attack, html: { __html: attack } }, attack);
    calls("Bash", { command: attack, description: attack }, attack, true);
    calls("Edit", { file_path: attack, old_string: attack, new_string: `${attack}x` }, attack);
    calls("Read", { file_path: attack }, attack);
    calls("WebFetch", { url: attack, prompt: attack }, [
      { type: "text", text: attack },
      { type: "image", source: { type: "url", url: attack } },
    ]);
    says({ type: "text", text: healthy(id) }, { model: attack });
    lines.push(
      line({
        type: "assistant",
        isApiErrorMessage: true,
        error: attack,
        message: {
          id: `err_${id}`,
          model: "<synthetic>",
          role: "assistant",
          content: [{ type: "text", text: attack }],
        },
      }),
    );
    return lines;
  });
  return { session_id, turns };
}
