import type { TurnEmitter } from "./turn-emitter.ts";

/** Interval at which live output is emitted, in milliseconds: at most 20 frames per second. */
const BATCH_MS = 50;
/** Maximum live output that is shown per call, in UTF-16 code units. The result contains all of it. */
const SHOWN_LIMIT = 200_000;
const CUT = "\n… more output follows in the result\n";

/** The live output of a call. */
interface Progress {
  push(text: string): void;
  /** Stops showing output, because the result contains all of it. */
  close(): void;
}

export function createProgress(emitter: TurnEmitter, tool_call_id: string): Progress {
  let offset = 0;
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const show = (): void => {
    timer = undefined;
    emitter.say({ type: "message.tool_progress", tool_call_id, text: waiting, offset });
    offset += waiting.length;
    waiting = "";
  };
  return {
    push(text) {
      if (isOver || text === "") return;
      waiting += text;
      if (offset + waiting.length > SHOWN_LIMIT) {
        const end = SHOWN_LIMIT - offset;
        const isInsideCharacter = /[\uD800-\uDBFF]/.test(waiting.charAt(end - 1));
        waiting = waiting.slice(0, isInsideCharacter ? end - 1 : end) + CUT;
        isOver = true;
      }
      timer ??= setTimeout(show, BATCH_MS);
    },
    close() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
