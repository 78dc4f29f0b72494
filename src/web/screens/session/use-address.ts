import { type RefObject, useEffect, useRef } from "react";
import { callPositionOf, positionOf } from "../../../model/transcript/accumulate.ts";
import { apiOf } from "../../api/api.ts";
import type { OpenSession } from "../../app/open-session.ts";
import { placeFrom } from "../../app/scroll-position.ts";
import { useClient } from "../../app/store.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";
import type { FindStart } from "./Find.tsx";
import type { ScrollerHandle } from "./scroller/scroller-handle.ts";

interface AddressOptions {
  session: OpenSession;
  scroller: RefObject<ScrollerHandle | null>;
  /** The fragment of the address. Empty: none. */
  fragment: string;
  /** Texts to mark, from the address. */
  find: readonly string[];
  /** Changes when the user navigates to the fragment's target again. */
  visit: number;
  /** Set if the position of a previous visit to this address was restored. `marked`: the part that was highlighted then. */
  resumed: { readonly marked: string | undefined } | undefined;
  /** Whether this is the main pane, whose scroll positions are saved in the history. */
  isMain: boolean;
  /** Scrolls to a part by position and, with `open`, expands it. Resolves with the part whose row shows it. */
  goTo(index: number, open: boolean): Promise<string | undefined>;
  toTurn(turn: number): Promise<void>;
  /** Called before going to the target: clears messages and highlights of the previous position. */
  onLeave(): void;
  onFind(start: FindStart): void;
  onMessage(message: string): void;
}

/** Goes to the target of the address: once per address, and again when the same link is followed again. */
export function useAddressTarget(options: AddressOptions): void {
  const { session, fragment, find, visit, resumed, isMain } = options;
  const api = apiOf(useClient());
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const texts = JSON.stringify(find);
  const followed = useRef<{ fragment: string; visit: number; texts: string }>(undefined);
  useEffect(() => {
    const before = followed.current;
    const isSamePlace = before?.fragment === fragment && before.visit === visit;
    if (isSamePlace && before.texts === texts) return;
    const own = { fragment, visit, texts };
    followed.current = own;
    const { find, scroller, goTo, toTurn, onLeave, onFind, onMessage } = latest.current;
    const [, kind, id] = /^(part|turn|call)-(.+)$/s.exec(fragment) ?? [];
    const beginFind = (row_id: string | undefined, scrolls: boolean): void => {
      const [text, ...otherTexts] = find;
      if (text === undefined) return;
      const part = kind === "part" && id !== undefined && row_id !== undefined ? { id, row_id } : undefined;
      onFind({ text, otherTexts, scrolls, ...(part === undefined ? {} : { part }) });
    };
    if (before === undefined && resumed !== undefined) return beginFind(resumed.marked ?? id, false);
    // Only the texts were removed, because find was closed: stay here.
    if (isSamePlace && find.length === 0) return;
    if (before === undefined && fragment === "") return beginFind(undefined, true);
    onLeave();
    // After returning through the history, restore the saved position, regardless of the fragment.
    const place = isMain ? placeFrom(history.state) : undefined;
    if (place !== undefined) {
      scroller.current?.toPlace(place);
      return beginFind(id, false);
    }
    const now = session.state.getState().transcript;
    if (now === undefined || kind === undefined || id === undefined) return beginFind(undefined, true);
    const goToTarget = async (): Promise<string | undefined> => {
      // Scrolling uses `flushSync`, which React does not allow during effects.
      await Promise.resolve();
      if (kind === "turn") {
        for (let turn = 0; turn < now.turns.length; turn += 1) {
          if (now.turns.at(turn)?.id !== id) continue;
          await toTurn(turn);
          return undefined;
        }
      } else {
        const known = kind === "part" ? positionOf(now, id) : callPositionOf(now, id);
        if (known !== undefined) return await goTo(known, true);
      }
      const found = await api.locate(session.id, { [kind]: id } as { part: string });
      if (followed.current !== own) return undefined;
      if (found.ok) return await goTo(found.value.index, true);
      onMessage(found.failure.code === "refused" ? t.session.noPart(kind, id) : failureText(found.failure));
      return undefined;
    };
    void goToTarget().then((row_id) => {
      if (followed.current === own) beginFind(row_id, true);
    });
  }, [session, api, fragment, visit, texts, resumed, isMain]);
}
