import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface ReplayServer {
  url: string;
  received: Received[];
  /** Number of requests whose connection was lost before the answer was complete. */
  readonly lost: number;
  close(): Promise<void>;
}

/** A server on a free local port with prepared answers. */
export async function startServer(
  answer: (response: ServerResponse, request: Received, number: number) => void | Promise<void>,
): Promise<ReplayServer> {
  const received: Received[] = [];
  let lost = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on("close", () => {
      if (!response.writableFinished) lost += 1;
    });
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url = "", headers } = request;
      const taken = { url, headers, body: Buffer.concat(chunks).toString("utf8") };
      received.push(taken);
      void Promise.resolve(answer(response, taken, received.length)).catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // The address of a server on a port is an object.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    get lost() {
      return lost;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export const EVENT_STREAM = { "content-type": "text/event-stream; charset=utf-8" };

/** Sends chunks in sequence, no faster than the client reads them. */
export async function sendChunks(response: ServerResponse, chunks: Iterable<Uint8Array>): Promise<void> {
  for (const chunk of chunks) {
    if (response.destroyed) return;
    if (!response.write(chunk)) {
      await new Promise<void>((resolve) => response.once("drain", resolve).once("close", resolve));
    }
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
