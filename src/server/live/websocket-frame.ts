import { PIECE_MARK } from "../../protocol.ts";

/** Bytes of a message that come as one piece of it: on a link that is hardly one each still takes less than a heartbeat. */
const PIECE_BYTES = 8 * 1024;
const PING = Buffer.from([0x89, 0]);
/** Of one message: some clients leave a server that sends too many. */
const MAX_PINGS = 48;

/**
 * A text message of a server as it is on the wire: one frame, final and not masked (RFC 6455, section 5.2). `ws` writes the head
 * of each message anew for each client, in a write of its own.
 */
export function textFrame(text: string): Buffer {
  const { frame, head } = openFrame(Buffer.byteLength(text));
  frame.write(text, head);
  return frame;
}

/**
 * The same as several messages where it is long, each but the last one marked: a client hears of what comes slowly. So does the
 * server, which asks for answers between them.
 */
export function textPieces(text: string): Buffer {
  const bytes = Buffer.from(text);
  const ends: number[] = [];
  for (let end = 0; end < bytes.length; ends.push(end)) {
    end = Math.min(end + PIECE_BYTES, bytes.length);
    // Not within a character, the bytes of which but the first one begin with 10.
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
