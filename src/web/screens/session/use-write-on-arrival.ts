import { useEffect } from "react";
import { takeToWrite } from "./to-write.ts";

/** Focuses the prompt field where the reader opened a session to write. `isReady`: no dialog is open, which gives the focus back. */
export function useWriteOnArrival(session_id: string, isReady: boolean, focus: () => void): void {
  useEffect(() => {
    if (isReady && takeToWrite(session_id)) focus();
  });
}
