import type { RefObject } from "react";
import type { KeyBinding } from "../../app/keys.ts";
import { en } from "../../text/en.ts";
import type { ScrollerHandle } from "./TranscriptScroller.tsx";

/** Keys that move through a transcript. */
export function scrollKeys(scroller: RefObject<ScrollerHandle | null>): KeyBinding[] {
  const scroll = (by: number, unit: "pixels" | "pages") => (): void => scroller.current?.scroll(by, unit);
  return [
    { keys: ["PageDown", " "], does: en.keys.pageDown, unfocused: true, run: scroll(1, "pages") },
    { keys: ["PageUp", "Shift+ "], does: en.keys.pageUp, unfocused: true, run: scroll(-1, "pages") },
    { keys: ["ArrowDown"], does: en.keys.down, unfocused: true, run: scroll(48, "pixels") },
    { keys: ["ArrowUp"], does: en.keys.up, unfocused: true, run: scroll(-48, "pixels") },
    { keys: ["Home", "g"], does: "Start of the session", run: () => scroller.current?.toStart() },
    { keys: ["End", "G"], does: en.keys.end, run: () => scroller.current?.toEnd() },
    { keys: ["j"], does: "Next part", keyOnly: true, run: () => scroller.current?.step(1) },
    { keys: ["k"], does: "Previous part", keyOnly: true, run: () => scroller.current?.step(-1) },
  ];
}

/** Clicks the answer of a kind on the approval whose row has the focus. */
const answer = (kind: string) => (): void => {
  const row = document.activeElement?.closest("[data-index]");
  row?.querySelector<HTMLButtonElement>(`button[data-answer="${kind}"]`)?.click();
};

/** Keys that answer an approval: capitals, and only where the reader stands. */
export const ANSWER_KEYS: readonly KeyBinding[] = [
  { keys: ["Y"], does: "Allow, on the approval in focus", keyOnly: true, run: answer("allow_once") },
  { keys: ["A"], does: en.keys.allowAlways, keyOnly: true, run: answer("allow_always") },
  { keys: ["N"], does: en.keys.deny, keyOnly: true, run: answer("reject_once") },
];
