import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { PIECE_MARK } from "../../src/protocol.ts";

/**
 * Faults that the proxy applies to connections. Changes take effect on the next bytes. The kinds are those of Toxiproxy,
 * except `messages`, which applies to the daemon's WebSocket messages.
 */
export interface Faults {
  /** Delay of each chunk. The order is kept. */
  latency_ms: number;
  /** Splits chunks from the daemon into pieces of this many bytes, each written separately. */
  slice: number | undefined;
  /** Limit per connection for data from the daemon, in bytes per millisecond. */
  bandwidth: number | undefined;
  /** Closes a connection after this many bytes from the daemon. */
  limit: number | undefined;
  /** New connections are reset. */
  down: boolean;
  /** Half-open: forwards neither data nor the end of a connection. */
  stalled: boolean;
  /** Probability, from 0 to 1, that a message from the daemon is sent twice, after the next one, or not at all. */
  messages: { duplicate: number; reorder: number; drop: number };
}

/** A TCP proxy between a client and the daemon that injects faults. */
export interface FaultProxy {
  readonly port: number;
  readonly faults: Faults;
  /** Bytes received from the daemon so far. */
  readonly bytes: number;
  /** Number of open client connections, without those that are being closed. */
  readonly open: number;
  /** Numbers of messages from the daemon that were duplicated, reordered and dropped. */
  readonly disturbed: { duplicated: number; reordered: number; dropped: number };
  /** Drops the next message of this type from the daemon. */
  dropNext(type: string): void;
  /** Cuts every connection, even in the middle of a message: with a FIN (`end`) or a reset (`reset`). */
  cut(how: "end" | "reset"): number;
  /** Clears all faults, and resets stalled connections. */
  heal(): void;
  close(): Promise<void>;
}

/** Interval at which a bandwidth-limited connection forwards data, in milliseconds. */
const TICK_MS = 5;
const NONE = { duplicate: 0, reorder: 0, drop: 0 };

export async function createFaultProxy(
  daemon_port: () => number,
  random: () => number = Math.random,
): Promise<FaultProxy> {
  const faults: Faults = {
    latency_ms: 0,
    slice: undefined,
    bandwidth: undefined,
    limit: undefined,
    down: false,
    stalled: false,
    messages: NONE,
  };
  const disturbed = { duplicated: 0, reordered: 0, dropped: 0 };
  const links = new Set<{ client: Socket; upstream: Socket; wasStalled: boolean }>();
  let bytes = 0;
  let to_drop: string | undefined;

  function tamper(message: Buffer, held: Buffer | undefined): { send: Buffer[]; held?: Buffer } {
    if (to_drop !== undefined && message.subarray(0, 60).includes(`{"type":"${to_drop}"`)) {
      to_drop = undefined;
      disturbed.dropped += 1;
      return { send: [], ...(held && { held }) };
    }
    const late = held ? [held] : [];
    const { duplicate, reorder, drop } = faults.messages;
    const roll = random();
    if (roll < drop) {
      disturbed.dropped += 1;
      return { send: late };
    }
    if (roll < drop + reorder && !held) {
      disturbed.reordered += 1;
      return { send: [], held: message };
    }
    if (roll < drop + reorder + duplicate) {
      disturbed.duplicated += 1;
      return { send: [message, ...late, message] };
    }
    return { send: [message, ...late] };
  }

  /** Converts bytes from the daemon to the output: unchanged until the upgrade, then message by message. */
  function createMessages(): (chunk: Buffer) => Buffer[] {
    let waiting: Buffer = Buffer.alloc(0);
    /** Pieces of one message, which all get the same fault. */
    let pieces: Buffer[] = [];
    let upgraded = false;
    let held: Buffer | undefined;
    return (chunk) => {
      const send: Buffer[] = [];
      waiting = Buffer.concat([waiting, chunk]);
      if (!upgraded) {
        const end = waiting.indexOf("\r\n\r\n");
        if (end < 0 || !waiting.subarray(0, 12).equals(Buffer.from("HTTP/1.1 101"))) {
          send.push(waiting);
          waiting = Buffer.alloc(0);
          return send;
        }
        upgraded = true;
        send.push(waiting.subarray(0, end + 4));
        waiting = waiting.subarray(end + 4);
      }
      for (let length = frameLength(waiting); length !== undefined; length = frameLength(waiting)) {
        const frame = Buffer.from(waiting.subarray(0, length));
        waiting = waiting.subarray(length);
        const isText = ((frame[0] ?? 0) & 0x0f) === 1;
        // Ping and close frames pass unchanged.
        if (!isText && pieces.length === 0) {
          send.push(frame);
          continue;
        }
        pieces.push(frame);
        if (!isText || frame.at(-1) === PIECE_MARK.charCodeAt(0)) continue;
        const tampered = tamper(Buffer.concat(pieces), held);
        pieces = [];
        held = tampered.held;
        send.push(...tampered.send);
      }
      return send;
    };
  }

  const server = createServer((client) => {
    if (faults.down) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(daemon_port(), "127.0.0.1");
    const link = { client, upstream, wasStalled: false };
    links.add(link);
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    let sent = 0;
    const messages = createMessages();

    const outlet = (to: Socket) => {
      const queue: (() => void)[] = [];
      return (act: () => void) => {
        if (faults.stalled || link.wasStalled) {
          link.wasStalled = true;
          return;
        }
        if (faults.latency_ms === 0 && queue.length === 0) return act();
        queue.push(act);
        setTimeout(() => {
          const next = queue.shift();
          if (!to.destroyed) next?.();
        }, faults.latency_ms);
      };
    };
    const toClient = outlet(client);
    const toDaemon = outlet(upstream);

    function deliver(piece: Buffer) {
      const { limit, slice } = faults;
      const room = limit === undefined ? piece.length : Math.max(0, limit - sent);
      const allowed = piece.subarray(0, room);
      sent += piece.length;
      for (let at = 0; at < allowed.length; at += slice ?? allowed.length) {
        client.write(allowed.subarray(at, at + (slice ?? allowed.length)));
      }
      if (room < piece.length) client.end(() => client.destroy());
    }
    upstream.on("data", async (chunk) => {
      bytes += chunk.length;
      const { bandwidth } = faults;
      if (bandwidth === undefined) {
        for (const piece of messages(chunk)) toClient(() => deliver(piece));
        return;
      }
      upstream.pause();
      for (let at = 0; at < chunk.length; at += bandwidth * TICK_MS) {
        await new Promise((resolve) => setTimeout(resolve, TICK_MS));
        if (!client.destroyed) deliver(chunk.subarray(at, at + bandwidth * TICK_MS));
      }
      upstream.resume();
    });
    client.on("data", (chunk) => toDaemon(() => upstream.write(chunk)));
    // Applies back pressure: stops reading from the daemon while the client does not read.
    client.on("drain", () => upstream.resume());
    upstream.on("data", () => {
      if (client.writableNeedDrain) upstream.pause();
    });
    const closed = () => {
      if (client.destroyed && upstream.destroyed) links.delete(link);
    };
    client
      .on("error", () => {})
      .on("close", () => {
        if (!faults.stalled && !link.wasStalled) upstream.destroy();
        closed();
      });
    upstream
      .on("error", () => {})
      .on("close", () => {
        toClient(() => client.destroy());
        closed();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  function cut(how: "end" | "reset"): number {
    let count = 0;
    for (const { client, upstream } of [...links]) {
      if (!client.destroyed) count += 1;
      if (how === "end") client.end(() => client.destroy());
      else client.resetAndDestroy();
      upstream.destroy();
    }
    return count;
  }

  return {
    // The address of a TCP server is an object; a string is the path of a pipe.
    port: (server.address() as AddressInfo).port,
    faults,
    disturbed,
    get bytes() {
      return bytes;
    },
    get open() {
      return [...links].filter(({ client }) => !client.destroyed && !client.writableEnded).length;
    },
    dropNext(type) {
      to_drop = type;
    },
    cut,
    heal() {
      const stalled = faults.stalled;
      Object.assign(faults, {
        latency_ms: 0,
        slice: undefined,
        bandwidth: undefined,
        limit: undefined,
        down: false,
        stalled: false,
        messages: NONE,
      });
      to_drop = undefined;
      if (stalled) cut("reset");
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut("reset");
      }),
  };
}

/** The length of the first WebSocket frame in these bytes, or `undefined` if it is incomplete. Server frames are unmasked. */
function frameLength(bytes: Buffer): number | undefined {
  const short = (bytes[1] ?? 0) & 0x7f;
  const head = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < head) return undefined;
  const length =
    short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  return bytes.length < head + length ? undefined : head + length;
}
