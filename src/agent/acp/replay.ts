import { randomUUID } from "node:crypto";
import type { Frame } from "../../model/frames/frame.ts";
import type { FrameBodyOf } from "../../model/frames/frame-writer.ts";
import type { Part } from "../../model/messages/part.ts";
import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { mediaPartOf } from "./tool-call.ts";
import { createUpdateReader } from "./update-reader.ts";

/** Converts the updates with which an agent repeats a session's history into turns. */
export interface Replay {
  /** The `update` of a `session/update`. */
  push(update: JsonObject): void;
  /**
   * Returns the frames of the whole history. `reply`: the result of `session/load`. `marker` becomes the last part of the last
   * turn, or a turn of its own if the agent sent nothing.
   */
  end(reply: unknown, marker: FrameBodyOf<"marker">): Frame[];
  /** The cost of the session in USD, if the agent reported it. */
  readonly cost: number | undefined;
}

/**
 * Updates about the current settings, which are reported again when the session is opened next. They are not part of the history.
 */
const CURRENT = new Set(["available_commands_update", "current_mode_update", "config_option_update"]);

interface ReplayedTurn {
  readonly id: string;
  /** The prompt while its chunks arrive. */
  prompt?: { readonly key: string | undefined; annotations: string; readonly parts: Part[] } | undefined;
  is_answered: boolean;
}

/**
 * The protocol has neither turns nor times: a turn begins with a user's message, and a time is 0 (unknown) unless the update
 * contains one. `is_inherited`: the same session is also read from the agent's files, so its messages are already counted there.
 */
export function createReplay({
  session_id,
  is_inherited,
}: {
  session_id: string;
  is_inherited: boolean;
}): Replay {
  let at = 0;
  let cost: number | undefined;
  let turn: ReplayedTurn | undefined;
  const frames: Frame[] = [];
  const reader = createUpdateReader({ session_id, newId: randomUUID, now: () => at });

  const put = (...more: readonly Frame[]): void => {
    for (const frame of more)
      frames.push(is_inherited && frame.type === "message.start" ? { ...frame, inherited: true } : frame);
  };
  const startTurn = (): ReplayedTurn => {
    endTurn();
    const started: ReplayedTurn = { id: randomUUID(), is_answered: false };
    turn = started;
    put(...reader.beginTurn(""), { type: "turn.start", session_id, at, turn_id: started.id });
    return started;
  };
  const putPrompt = (): void => {
    const parts = turn?.prompt?.parts;
    if (turn === undefined || parts === undefined) return;
    turn.prompt = undefined;
    put({ type: "user.message", session_id, at, message_id: randomUUID(), parts });
  };
  const endTurn = (last?: Frame): void => {
    if (turn === undefined) return;
    putPrompt();
    put(...reader.endTurn(undefined).frames, ...(last === undefined ? [] : [last]));
    // The protocol does not say how the turn ended.
    const status = turn.is_answered ? "completed" : "interrupted";
    put({ type: "turn.end", session_id, at, turn_id: turn.id, status, inferred: true });
    turn = undefined;
  };

  const pushPrompt = (update: JsonObject): void => {
    const part = promptPart(update.content);
    if (part === undefined) {
      pushOther(update);
      return;
    }
    const key = asText(update.messageId);
    const open = turn?.prompt;
    const continues = open !== undefined && (open.key === key || open.key === undefined || key === undefined);
    const current = continues && turn !== undefined ? turn : startTurn();
    const annotations = JSON.stringify(asObject(update.content)?.annotations ?? null);
    current.prompt ??= { key, annotations, parts: [] };
    const { prompt } = current;
    const last = prompt.parts.at(-1);
    // Join the chunks of a text. A block with other annotations is a separate text.
    if (last?.type === "text" && part.type === "text" && prompt.annotations === annotations)
      last.text += part.text;
    else prompt.parts.push(part);
    prompt.annotations = annotations;
  };
  const pushOther = (update: JsonObject): void => {
    const current = turn ?? startTurn();
    putPrompt();
    current.is_answered = true;
    put(...reader.push(update));
  };

  return {
    get cost() {
      return cost;
    },
    push(update) {
      const kind = asString(update.sessionUpdate) ?? "";
      if (CURRENT.has(kind)) return;
      at = asNumber(asObject(update._meta)?.timestamp) ?? at;
      if (kind === "user_message_chunk") pushPrompt(update);
      else if (kind === "session_info_update") put(...reader.push(update));
      else if (kind === "usage_update") {
        const { cost: price, ...rest } = update;
        const amount = asNumber(asObject(price)?.amount);
        if (amount !== undefined && asObject(price)?.currency === "USD") cost = amount;
        // Omit the cost from the update: it is that of all turns, not of the last one.
        put(...reader.push(rest));
      } else pushOther(update);
    },
    end(reply, marker) {
      put(...reader.pushSession(reply));
      if (turn === undefined) startTurn().is_answered = true;
      endTurn({ ...marker, session_id, at });
      return frames;
    },
  };
}

/** A block of a prompt as a part; `undefined`: the kind of block is unknown. */
function promptPart(content: unknown): Part | undefined {
  const block = asObject(content);
  const resource = asObject(block?.resource);
  const text = asString(block?.type === "text" ? block.text : resource?.text);
  if (text !== undefined) return { type: "text", text };
  return mediaPartOf(block);
}
