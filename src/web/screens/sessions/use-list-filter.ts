import { useEffect, useState } from "react";
import { keepWhenLeaving, type ListFilter, navigate, sessionsHref } from "../../app/router.ts";
import type { Left } from "./list-left.ts";

/** A browser refuses an address that changes with every letter. */
const ADDRESS_MS = 400;

/** The list's filter: at first that of the address, else as the list was left. The address follows it. */
export function useListFilter(
  left: Left,
  filter: ListFilter,
): [filter: ListFilter, set: (filter: ListFilter) => void] {
  const initial = filter.text === "" && filter.states.size === 0 ? left : filter;
  const [{ text, states }, setFilter] = useState<ListFilter>(initial);
  useEffect(() => {
    left.text = text;
    left.states = states;
  }, [left, text, states]);
  const address = sessionsHref({ text, states });
  const named = sessionsHref(filter);
  const [known, setKnown] = useState(named);
  if (named !== known) {
    setKnown(named);
    // After a history navigation, the address is what this screen wrote.
    if (named !== address) setFilter(filter);
  }
  useEffect(() => {
    const write = (): null => {
      if (location.pathname + location.search !== address) navigate(address, "replace");
      return null;
    };
    const timer = setTimeout(write, ADDRESS_MS);
    const stop = keepWhenLeaving(write);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [address]);
  return [{ text, states }, setFilter];
}
