import type { Consumer } from "./consumer.ts";

/** Joins deltas and renders the text once per frame. */
export function growing(show: (text: string, open: boolean) => void): Consumer {
  let text = "";
  let request = 0;
  const flush = (): void => {
    request = 0;
    show(text, true);
  };
  show("", true);
  return {
    push(delta) {
      text += delta;
      request ||= requestAnimationFrame(flush);
    },
    end() {
      cancelAnimationFrame(request);
      show(text, false);
    },
  };
}
