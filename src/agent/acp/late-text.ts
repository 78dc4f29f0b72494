import type { FrameBody } from "../../model/frames/frame-writer.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { titleFields } from "../../model/text/titles.ts";

type Kind = "text" | "thinking";

interface Said {
  readonly kind: Kind;
  /** The part that the text continues. Absent: it starts a new part. */
  part_id?: string;
  text: string;
}

/**
 * Text that an agent sends after the end of its turn. A text with the message id of an earlier one continues it; any other text
 * starts a new part. Text is buffered and emitted as complete parts, so that no part of an ended turn is open.
 */
export interface LateText {
  /** Records a text of the turn, which late text may continue. `key`: the agent's message id. */
  note(kind: Kind, key: string, part_id: string, text: string): void;
  /** Buffers a chunk that arrived after the turn. */
  add(kind: Kind, key: string | undefined, text: string): void;
  /** Called when another update arrives: the next text without a message id then starts a new part. */
  leave(): void;
  /** Whether text is buffered. */
  readonly waits: boolean;
  /** Returns the buffered text as frames and empties the buffer. `opens`: whether a new part was started. */
  flush(): { bodies: FrameBody[]; opens: boolean };
  /** Called when a new turn begins: later text does not belong to the last turn. */
  clear(): void;
}

export function createLateText(newId: () => string): LateText {
  /** The turn's texts with a message id, by kind and id. */
  const byKey = new Map<string, Said>();
  const waiting = new Set<Said>();
  /** The latest text without a message id, which further text of its kind continues. */
  let bare: Said | undefined;

  const begin = (kind: Kind): Said => ({ kind, text: "" });
  return {
    note(kind, key, part_id, text) {
      const id = `${kind}:${key}`;
      const known = byKey.get(id);
      if (known?.part_id === part_id) {
        known.text += text;
      } else byKey.set(id, { kind, part_id, text });
    },
    add(kind, key, text) {
      let said: Said;
      if (key === undefined) {
        said = bare?.kind === kind ? bare : begin(kind);
        bare = said;
      } else {
        said = byKey.get(`${kind}:${key}`) ?? begin(kind);
        byKey.set(`${kind}:${key}`, said);
        bare = undefined;
      }
      said.text += text;
      waiting.add(said);
    },
    leave() {
      bare = undefined;
    },
    get waits() {
      return waiting.size > 0;
    },
    flush() {
      const bodies: FrameBody[] = [];
      let opens = false;
      for (const said of waiting) {
        const { kind, text } = said;
        if (said.part_id === undefined) {
          opens = true;
          const part_id = newId();
          said.part_id = part_id;
          bodies.push(
            { type: "marker", kind: "note", part_id: newId(), ...titleFields(agentTitle("sent_after_turn")) },
            { type: "message.part_start", part_id, kind },
          );
        }
        bodies.push({ type: "message.part_end", part_id: said.part_id, text });
      }
      waiting.clear();
      return { bodies, opens };
    },
    clear() {
      byKey.clear();
      waiting.clear();
      bare = undefined;
    },
  };
}
