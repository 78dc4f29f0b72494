import type { FrameBody } from "../../model/frames/frame-writer.ts";

type Kind = "text" | "thinking";

interface Said {
  readonly kind: Kind;
  /** Of the part that it goes on in; absent: it opens one. */
  part_id?: string;
  text: string;
}

/**
 * What an agent says after its prompt was answered. A text that names the message of an earlier one goes on with it; any other
 * opens a part of its own. It is gathered and written in whole parts, so that nothing stays open in a turn that has ended.
 */
export interface LateText {
  /** A text of the turn, which a late one may go on with. `key`: the agent's id of its message. */
  note(kind: Kind, key: string, part_id: string, text: string): void;
  /** Takes a chunk after the turn. */
  add(kind: Kind, key: string | undefined, text: string): void;
  /** Something else came: what follows without a message's id opens a part. */
  leave(): void;
  /** Whether a chunk waits to be written. */
  readonly waits: boolean;
  /** What was gathered, as frames. */
  flush(): { bodies: FrameBody[]; opens: boolean };
  /** Another turn begins: what is said from here on is not of the last one. */
  clear(): void;
}

export function createLateText(newId: () => string): LateText {
  /** The texts of the turn that name their message, by kind and key. */
  const byKey = new Map<string, Said>();
  const waiting = new Set<Said>();
  /** The newest text that no message was named for: what follows of its kind goes on with it. */
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
            { type: "marker", kind: "note", part_id: newId(), title: "Said after the turn had ended" },
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
