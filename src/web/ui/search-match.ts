import { createContext, useContext } from "react";

/**
 * Tells whether a text contains the current search; absent: there is no search. A component that shows only a part of its text
 * shows more if the rest contains a match, and keeps showing it.
 */
export const SearchText = createContext<((text: string) => boolean) | undefined>(undefined);

/** Whether a text contains the current search. The text is created only if there is one. */
export function useIsSearchMatch(text: () => string): boolean {
  const isIn = useContext(SearchText);
  return isIn?.(text()) === true;
}
