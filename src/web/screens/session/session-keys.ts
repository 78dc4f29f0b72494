import type { RefObject } from "react";
import type { KeyBinding } from "../../app/keys.ts";
import { t } from "../../text/text.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";

/** Key bindings that move through a transcript. */
export function scrollKeys(scroller: RefObject<ScrollerHandle | null>): KeyBinding[] {
  const scroll = (by: number, unit: "pixels" | "pages") => (): void => scroller.current?.scroll(by, unit);
  return [
    { keys: ["PageDown", " "], label: t.keys.pageDown, unfocused: true, run: scroll(1, "pages") },
    { keys: ["PageUp", "Shift+ "], label: t.keys.pageUp, unfocused: true, run: scroll(-1, "pages") },
    { keys: ["ArrowDown"], label: t.keys.down, unfocused: true, run: scroll(48, "pixels") },
    { keys: ["ArrowUp"], label: t.keys.up, unfocused: true, run: scroll(-48, "pixels") },
    { keys: ["Home", "g"], label: t.session.keys.start, run: () => scroller.current?.toStart() },
    { keys: ["End", "G"], label: t.keys.end, run: () => scroller.current?.toEnd() },
    { keys: ["j"], label: t.session.keys.nextPart, keyOnly: true, run: () => scroller.current?.step(1) },
    { keys: ["k"], label: t.session.keys.previousPart, keyOnly: true, run: () => scroller.current?.step(-1) },
  ];
}

/** Clicks the button for a kind of answer on the approval whose row has the focus. */
const answer = (kind: string) => (): void => {
  const row = document.activeElement?.closest("[data-index]");
  row?.querySelector<HTMLButtonElement>(`button[data-answer="${kind}"]`)?.click();
};

/** Key bindings that answer the focused approval: upper-case letters. */
export const answerKeys = (): readonly KeyBinding[] => [
  { keys: ["Y"], label: t.keys.allow, keyOnly: true, run: answer("allow_once") },
  { keys: ["A"], label: t.keys.allowAlways, keyOnly: true, run: answer("allow_always") },
  { keys: ["N"], label: t.keys.deny, keyOnly: true, run: answer("reject_once") },
];
