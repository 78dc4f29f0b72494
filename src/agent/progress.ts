import type { TurnEmitter } from "./turn-emitter.ts";

/** Live output is joined over this time: a command that prints all the time makes some 20 frames a second. */
const BATCH_MS = 50;
/** In UTF-16 code units: what is shown of a call's output while it runs. Its result has the whole. */
const SHOWN_LIMIT = 200_000;
const CUT = "\n… more output than is shown while it runs; the result has it\n";

/** Live output of one call. */
interface Progress {
  push(text: string): void;
  /** Nothing is shown after this: the result says the whole. */
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
