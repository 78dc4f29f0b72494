import { createContext, useContext } from "react";

/**
 * Whether a text holds what somebody looks for in what is shown below; absent: nobody does. What shows only a part of its
 * own text shows more where the rest holds it, and does not take that back.
 */
export const SearchText = createContext<((text: string) => boolean) | undefined>(undefined);

/** Whether somebody looks for something that a text holds. The text is made only then. */
export function useIsSearchMatch(text: () => string): boolean {
  const isIn = useContext(SearchText);
  return isIn?.(text()) === true;
}
