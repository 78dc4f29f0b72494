import type { RefObject } from "react";
import type { KeyBinding } from "../../app/keys.ts";
import { t } from "../../text/text.ts";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";

/** Key bindings that move through a transcript. */
export function scrollKeys(scroller: RefObject<ScrollerHandle | null>): KeyBinding[] {
  const scroll = (by: number, unit: "pixels" | "pages") => (): void => scroller.current?.scroll(by, unit);
  return [
    { keys: ["PageDown", " "], does: t.keys.pageDown, unfocused: true, run: scroll(1, "pages") },
    { keys: ["PageUp", "Shift+ "], does: t.keys.pageUp, unfocused: true, run: scroll(-1, "pages") },
    { keys: ["ArrowDown"], does: t.keys.down, unfocused: true, run: scroll(48, "pixels") },
    { keys: ["ArrowUp"], does: t.keys.up, unfocused: true, run: scroll(-48, "pixels") },
    { keys: ["Home", "g"], does: t.session.keys.start, run: () => scroller.current?.toStart() },
    { keys: ["End", "G"], does: t.keys.end, run: () => scroller.current?.toEnd() },
    { keys: ["j"], does: t.session.keys.nextPart, keyOnly: true, run: () => scroller.current?.step(1) },
    { keys: ["k"], does: t.session.keys.previousPart, keyOnly: true, run: () => scroller.current?.step(-1) },
  ];
}

/** Clicks the button for a kind of answer on the approval whose row has the focus. */
const answer = (kind: string) => (): void => {
  const row = document.activeElement?.closest("[data-index]");
  row?.querySelector<HTMLButtonElement>(`button[data-answer="${kind}"]`)?.click();
};

/** Key bindings that answer the focused approval: upper-case letters. */
export const answerKeys = (): readonly KeyBinding[] => [
  { keys: ["Y"], does: t.keys.allow, keyOnly: true, run: answer("allow_once") },
  { keys: ["A"], does: t.keys.allowAlways, keyOnly: true, run: answer("allow_always") },
  { keys: ["N"], does: t.keys.deny, keyOnly: true, run: answer("reject_once") },
];
