import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import type { SearchReply } from "../../protocol.ts";
import { failureText } from "../failure-text.ts";
import { exactNumber } from "../figures.ts";
import { useClient } from "../store.ts";

const TYPING_MS = 150;

interface Props {
  session_id: string;
  input: RefObject<HTMLInputElement | null>;
  /** The search begins at the first hit from here on. */
  from(): number;
  onHit(hit: SearchReply["hits"][number]): void;
  onText(text: string): void;
  onClose(): void;
}

/** Finds text in the whole session, also where nothing is loaded: the daemon searches, the view goes there. */
export function Find({ session_id, input, from, onHit, onText, onClose }: Props): ReactNode {
  const { api } = useClient();
  const [text, setText] = useState("");
  const [reply, setReply] = useState<SearchReply | { failure: string }>();
  const [at, setAt] = useState(0);
  const go = useRef(onHit);
  const start = useRef(from);
  const tell = useRef(onText);
  useEffect(() => {
    go.current = onHit;
    start.current = from;
    tell.current = onText;
  });

  useEffect(() => {
    setReply(undefined);
    tell.current(text.length > 1 ? text : "");
    if (text === "") return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      const found = await api.search(session_id, text, abort.signal);
      if (abort.signal.aborted) return;
      if (!found.ok) {
        setReply({ failure: failureText(found.failure) });
        return;
      }
      setReply(found.value);
      const here = start.current();
      const first = Math.max(
        0,
        found.value.hits.findIndex(({ index }) => index >= here),
      );
      setAt(first);
      const hit = found.value.hits[first];
      if (hit !== undefined) go.current(hit);
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, session_id, text]);
  useEffect(() => () => tell.current(""), []);

  const hits = reply !== undefined && "hits" in reply ? reply.hits : [];
  const step = (by: 1 | -1): void => {
    if (hits.length === 0) return;
    const next = (at + by + hits.length) % hits.length;
    setAt(next);
    const hit = hits[next];
    if (hit !== undefined) onHit(hit);
  };
  const count = ((): string => {
    if (text === "") return "";
    if (reply === undefined) return "searching";
    if ("failure" in reply) return reply.failure;
    if (reply.total === 0) return "no match";
    const shown = reply.total > hits.length ? ` (first ${exactNumber(hits.length)})` : "";
    return `${exactNumber(at + 1)} / ${exactNumber(reply.total)}${shown}`;
  })();

  return (
    // biome-ignore lint/a11y/useSemanticElements: not every document knows the element `search` yet
    <div role="search" className="find">
      <input
        ref={input}
        type="search"
        className="filter"
        placeholder="Find in this session"
        aria-label="Find in this session"
        value={text}
        // The bar opens because someone asked to type into it.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            step(event.shiftKey ? -1 : 1);
          } else if (event.key === "Escape") {
            event.preventDefault();
            onClose();
          }
        }}
      />
      <span className="find-count" role="status">
        {count}
      </span>
      <button type="button" className="button" onClick={() => step(-1)} aria-label="Previous match">
        ↑
      </button>
      <button type="button" className="button" onClick={() => step(1)} aria-label="Next match">
        ↓
      </button>
      <button type="button" className="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}
