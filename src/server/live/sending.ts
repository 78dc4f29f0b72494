import { WebSocket } from "ws";
import type { ErrorReply, ServerMessage } from "../../protocol.ts";
import { type Channel, checked, type SnapshotReason } from "./channels.ts";
import type { Client } from "./client.ts";

/**
 * A client with more unsent bytes than this, not counting responses to its requests, receives nothing until it has read
 * everything, then a snapshot. A client above the hard limit is disconnected.
 */
export const SOFT_LIMIT = 1024 * 1024;
const HARD_LIMIT = 4 * 1024 * 1024;
/** Maximum size of missed frames that may be queued on top of unsent bytes. */
const MAX_MISSED_BYTES = HARD_LIMIT - SOFT_LIMIT;
/** Time for a client to complete the closing handshake, in milliseconds. */
const DISMISS_MS = 1_000;

/** Unsent bytes of a client without snapshots: a long snapshot does not mean that the client does not read. */
export function unsentBytes({ socket, snapshots }: Client): number {
  return socket.bufferedAmount - snapshots;
}

/** Sends an encoded message. Disconnects a client that does not read. */
export function send(client: Client, message: Buffer): void {
  if (client.socket.readyState !== WebSocket.OPEN) return;
  client.connection.write(message);
  // A single message may be longer than the limit, but the queue must not grow beyond it.
  if (unsentBytes(client) > Math.max(HARD_LIMIT, SOFT_LIMIT + message.length)) client.socket.terminate();
}

/** Sends a message to one client. */
export function notify(client: Client, message: ServerMessage): void {
  send(client, client.frame(JSON.stringify(message)));
}

/** Sends a channel's whole state and its position. */
export function sendSnapshot(client: Client, channel: Channel, reason: SnapshotReason): void {
  if (client.socket.readyState !== WebSocket.OPEN) return;
  const snapshot = client.frame(channel.snapshot(reason));
  client.snapshots += snapshot.length;
  client.connection.write(snapshot, () => {
    client.snapshots -= snapshot.length;
  });
  notify(client, synced(channel));
}

/** Tells a client that its message was refused. */
export function refuse(client: Client, error: ErrorReply["error"], channel?: string): void {
  const { remedy, message, ...rest } = error;
  notify(client, {
    type: "refused",
    ...(channel !== undefined && { channel }),
    ...rest,
    message: remedy === undefined ? message : `${message} ${remedy}`,
  });
}

/** Disconnects a client that violates the protocol. Its further messages are ignored. */
export function dismiss(client: Client, reason: string): void {
  client.socket.removeAllListeners("message");
  client.socket.close(1008, reason);
  setTimeout(() => client.socket.terminate(), DISMISS_MS).unref();
}

/** Encodes missed messages; `undefined`: they are too large. */
export function written({ frame }: Client, missed: ServerMessage[] | undefined): Buffer[] | undefined {
  const messages: Buffer[] = [];
  let bytes = 0;
  for (const message of missed ?? []) {
    const encoded = frame(JSON.stringify(message));
    bytes += encoded.length;
    if (bytes > MAX_MISSED_BYTES) return undefined;
    messages.push(encoded);
  }
  return missed && messages;
}

/** The message that ends a snapshot or missed messages. */
export function synced({ name, epoch, seq, check }: Channel): ServerMessage {
  return { type: "synced", channel: name, epoch, seq, ...checked(check()) };
}
