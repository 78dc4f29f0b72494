import { PIECE_MARK } from "../../protocol.ts";

/** Maximum size of a fragment in bytes. Even on a very slow link, sending one takes less than a heartbeat. */
const PIECE_BYTES = 8 * 1024;
const PING = Buffer.from([0x89, 0]);
/** Maximum pings per message: some clients disconnect if a server sends too many. */
const MAX_PINGS = 48;

/** The text of a message: a string, or its parts in UTF-8. */
export type MessageText = string | readonly Buffer[];

/**
 * Encodes a text message as one final, unmasked WebSocket frame (RFC 6455, section 5.2). `ws` would encode and write the header
 * separately for each client.
 */
export function textFrame(text: MessageText): Buffer {
  if (typeof text === "string") {
    const { frame, head } = openFrame(Buffer.byteLength(text));
    frame.write(text, head);
    return frame;
  }
  const { frame, head } = openFrame(text.reduce((sum, { length }) => sum + length, 0));
  let at = head;
  for (const bytes of text) at += bytes.copy(frame, at);
  return frame;
}

/**
 * Like `textFrame`, but splits a long message into fragments with pings between them, so that on a slow link both sides see that
 * the connection is alive.
 */
export function textPieces(text: MessageText): Buffer {
  const bytes = typeof text === "string" ? Buffer.from(text) : Buffer.concat(text);
  const ends: number[] = [];
  for (let end = 0; end < bytes.length; ends.push(end)) {
    end = Math.min(end + PIECE_BYTES, bytes.length);
    // Do not split within a UTF-8 character: its continuation bytes begin with the bits 10.
    while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  }
  if (ends.length < 2) return textFrame(text);
  const pings_after = Math.ceil(ends.length / MAX_PINGS);
  const pieces = ends.flatMap((end, n) => {
    const from = ends[n - 1] ?? 0;
    const mark = end < bytes.length ? PIECE_MARK : "";
    const { frame, head } = openFrame(end - from + mark.length);
    bytes.copy(frame, head, from, end);
    frame.write(mark, head + end - from);
    return n % pings_after === 0 ? [frame, PING] : [frame];
  });
  return Buffer.concat(pieces);
}

function openFrame(length: number): { frame: Buffer; head: number } {
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = 0x81;
  if (head === 2) {
    frame[1] = length;
  } else if (head === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  return { frame, head };
}
