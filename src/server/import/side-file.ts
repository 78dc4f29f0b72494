import { openRegular, readAt } from "../files/follow.ts";
import type { SessionFile } from "./session-file.ts";

const LIMIT = 64 * 1024;

/** Reads the side file of a session's file, and remembers its stamp. */
export async function loadSide(entry: SessionFile): Promise<void> {
  if (entry.side === undefined) return;
  const opened = await openRegular(entry.side);
  if (!opened) return;
  try {
    const stamp = entry.seen?.side_stamp;
    entry.side_text = new TextDecoder().decode(await readAt(opened.handle, 0, LIMIT));
    if (stamp === undefined) delete entry.side_stamp;
    else entry.side_stamp = stamp;
  } finally {
    await opened.handle.close();
  }
}
