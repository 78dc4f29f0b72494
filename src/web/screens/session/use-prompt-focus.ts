import { useEffect } from "react";
import { takeFocusRequest } from "./prompt-focus.ts";

/**
 * Focuses the prompt field if the user opened the session to write. `isReady`: no dialog is open, which would restore the focus
 * when closed.
 */
export function usePromptFocus(session_id: string, isReady: boolean, focus: () => void): void {
  useEffect(() => {
    if (isReady && takeFocusRequest(session_id)) focus();
  });
}
