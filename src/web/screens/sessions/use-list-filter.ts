import { useEffect, useState } from "react";
import { type ListFilter, navigate, saveStateOnLeave, sessionsHref } from "../../app/router.ts";
import type { ListState } from "./list-state.ts";

/** Debounce time, in milliseconds: browsers refuse to change the address on each keystroke. */
const ADDRESS_MS = 400;

/** The filter of the list, initially from the address or, if that has none, as the user left it. Changes update the address. */
export function useListFilter(
  listState: ListState,
  filter: ListFilter,
): [filter: ListFilter, set: (filter: ListFilter) => void] {
  const initial = filter.text === "" && filter.states.size === 0 ? listState : filter;
  const [{ text, states }, setFilter] = useState<ListFilter>(initial);
  useEffect(() => {
    listState.text = text;
    listState.states = states;
  }, [listState, text, states]);
  const address = sessionsHref({ text, states });
  const routeAddress = sessionsHref(filter);
  const [lastAddress, setLastAddress] = useState(routeAddress);
  if (routeAddress !== lastAddress) {
    setLastAddress(routeAddress);
    // Equal if this screen wrote the address itself; different after a navigation in the history.
    if (routeAddress !== address) setFilter(filter);
  }
  useEffect(() => {
    const write = (): null => {
      if (location.pathname + location.search !== address) navigate(address, "replace");
      return null;
    };
    const timer = setTimeout(write, ADDRESS_MS);
    const stop = saveStateOnLeave(write);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [address]);
  return [{ text, states }, setFilter];
}
