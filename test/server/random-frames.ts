import type { Frame } from "../../src/model/frames/frame.ts";
import { seeded } from "../seeded.ts";
import { uuidOf } from "../uuid-of.ts";

const PNG = `data:image/png;base64,${Buffer.from("picture").toString("base64")}`;

/**
 * An endless stream of random frames: prompts, thoughts and texts in deltas (some far above the wire limits), parallel
 * calls with progress and results in any order, images, revisions and markers. `long`: probability, from 0 to 1, that a
 * text exceeds the wire limits.
 */
export function createWork(session_id: string, seed: number, long = 0.1) {
  const random = seeded(seed);
  const whole = (below: number) => Math.floor(random() * below);
  const pick = <Item>(...items: [Item, ...Item[]]): Item => items[whole(items.length)] ?? items[0];
  let count = 0;
  const nextId = () => uuidOf(`${session_id} ${seed} ${count++}`);
  const open_calls: string[] = [];
  let message_id = nextId();
  let text: { part_id: string; kind: "text" | "thinking"; length: number } | undefined;

  const words = (limit: number) => {
    const length = random() < long ? limit - 3 + whole(7) + (random() < 0.5 ? 0 : limit) : 1 + whole(40);
    return pick("ab \n", "😀", "\ud83d\ude00x", "日本 ")
      .repeat(Math.ceil(length / 2))
      .slice(0, length);
  };
  const at = () => 1_000 + count;
  const finishText = (): Frame[] => {
    const open = text;
    text = undefined;
    if (!open) return [];
    const end: Frame = { type: "message.part_end", session_id, at: at(), part_id: open.part_id };
    if (random() < 0.3) end.text = words(65_536);
    if (open.kind === "thinking" && random() < 0.5) end.signature = "s".repeat(whole(2_000));
    return [end];
  };

  /** The next event, as one or more frames. */
  function next(): Frame[] {
    const common = { session_id, at: at() };
    const roll = random();
    if (text && roll < 0.6) {
      const delta = words(65_536);
      const offset = text.length;
      text.length += delta.length;
      return [
        { type: "message.delta", ...common, kind: text.kind, part_id: text.part_id, offset, text: delta },
      ];
    }
    if (roll < 0.66) {
      message_id = nextId();
      const before = finishText();
      const parts = [
        { type: "text" as const, text: words(65_536) },
        ...(random() < 0.3 ? [{ type: "image_url" as const, url: PNG }] : []),
      ];
      return [
        ...before,
        { type: "user.message", ...common, message_id, parts, ...(random() < 0.3 ? { queued: true } : {}) },
      ];
    }
    if (roll < 0.8) {
      const before = finishText();
      message_id = nextId();
      text = { part_id: nextId(), kind: pick("text", "thinking"), length: 0 };
      return [
        ...before,
        { type: "message.start", ...common, message_id, model: "m" },
        { type: "message.part_start", ...common, part_id: text.part_id, kind: text.kind, message_id },
      ];
    }
    if (roll < 0.88) {
      const before = finishText();
      const tool_call_id = `call-${count++}`;
      open_calls.push(tool_call_id);
      const input = { command: words(8_192), list: Array.from({ length: whole(5) }, () => words(8_192)) };
      const arguments_json = random() < 0.1 ? `{"broken": ${words(8_192)}` : JSON.stringify(input);
      const call = { ...common, tool_call_id, tool_name: "Bash", part_id: nextId(), message_id };
      return [
        ...before,
        { type: "message.tool_call_start", ...call },
        { type: "message.tool_call", ...call, arguments_json },
      ];
    }
    if (roll < 0.95 && open_calls.length > 0) {
      const [tool_call_id = ""] = open_calls.splice(whole(open_calls.length), 1);
      const status = pick("success", "error", "aborted");
      const lines = Array.from({ length: whole(4) }, () => `+${words(65_536)}`);
      const hunk = { old_start: 1, old_lines: 0, new_start: 1, new_lines: lines.length, lines };
      const result: Frame = {
        type: "message.tool_result",
        ...common,
        tool_call_id,
        is_error: status === "error",
        status,
        output_text: words(8_192),
        parts: random() < 0.2 ? [{ type: "image_url", url: PNG }] : [],
        ...(random() < 0.5
          ? {
              ui_extra: {
                type: "diff" as const,
                files: [
                  {
                    path: "a.ts",
                    change: "update" as const,
                    additions: lines.length,
                    deletions: 0,
                    hunks: [hunk],
                  },
                ],
              },
            }
          : {}),
      };
      const progress: Frame = {
        type: "message.tool_progress",
        ...common,
        tool_call_id,
        text: words(65_536),
        offset: 0,
      };
      return random() < 0.4 ? [progress, result] : [result];
    }
    const before = finishText();
    const part_id = nextId();
    return [
      ...before,
      pick<Frame>(
        {
          type: "marker",
          ...common,
          part_id,
          kind: "compaction",
          title: "Compacted",
          text: words(65_536),
          data: [words(8_192)],
        },
        { type: "unknown", ...common, part_id, raw: { from: words(8_192) }, title: "later" },
        { type: "error", ...common, part_id, message: words(65_536), can_retry: true },
        { type: "message.image", ...common, part_id, url: PNG },
        {
          type: "developer.message",
          ...common,
          message_id: part_id,
          parts: [{ type: "text", text: words(65_536) }],
        },
        { type: "turn.end", ...common },
        { type: "interrupt", ...common, part_id },
        {
          type: "message.legacy",
          ...common,
          message: {
            id: part_id,
            created_at: "2026-01-01T00:00:00Z",
            role: "assistant",
            content: words(65_536),
          },
        },
      ),
    ];
  }

  return {
    next,
    take(frames: number): Frame[] {
      const taken: Frame[] = [];
      while (taken.length < frames) taken.push(...next());
      return taken;
    },
  };
}
