import { createContext, useContext } from "react";

/**
 * Tells whether a text contains the current search text; absent: there is no search. A component that shows only a part of its
 * text expands if the rest contains a match, and stays expanded.
 */
export const SearchText = createContext<((text: string) => boolean) | undefined>(undefined);

/** Whether a text contains the current search text. `text` is called only if there is a search. */
export function useIsSearchMatch(text: () => string): boolean {
  const isIn = useContext(SearchText);
  return isIn?.(text()) === true;
}
