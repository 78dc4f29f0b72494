import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { MessageText } from "./websocket-frame.ts";

/** A connected client of the socket. */
export interface Client {
  socket: WebSocket;
  /** Receives encoded WebSocket frames. A frame is encoded once for all clients; `socket.send` would encode it for each. */
  connection: Duplex;
  /** Encodes a message for this client. */
  frame: (text: MessageText) => Buffer;
  /** Subscriptions by channel. `live`: gets every frame. `behind`: gets a snapshot once its queue is empty. */
  channels: Map<string, { state: "live" | "behind" }>;
  /** Messages are handled one after the other, in order. */
  work: Promise<void>;
  waiting: number;
  /** Bytes of unsent snapshots. */
  snapshots: number;
  allowance: number;
  allowance_at: number;
  unanswered: number;
}
