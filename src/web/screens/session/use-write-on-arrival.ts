import { useEffect } from "react";
import { takeToWrite } from "./to-write.ts";

/**
 * Focuses the prompt field if the user opened the session to write. `isReady`: no dialog is open, which would restore the focus
 * when closed.
 */
export function useWriteOnArrival(session_id: string, isReady: boolean, focus: () => void): void {
  useEffect(() => {
    if (isReady && takeToWrite(session_id)) focus();
  });
}
