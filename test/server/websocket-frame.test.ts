import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { PIECE_MARK } from "../../src/protocol.ts";
import { textFrame, textPieces } from "../../src/server/live/websocket-frame.ts";

describe("an encoded text message", () => {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const frames: Buffer[] = [];
  server.on("upgrade", (incoming, connection, head) =>
    sockets.handleUpgrade(incoming, connection, head, () => {
      for (const frame of frames) connection.write(frame);
    }),
  );
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it("is decoded by a client as the same text, for each length of its header", async () => {
    const lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 1_000_000];
    const texts = [...lengths.map((length) => "a".repeat(length)), "“ä𝄞”".repeat(20), "é".repeat(32_768)];
    frames.push(...texts.map(textFrame));
    const parts = ["one ", "“ä𝄞”".repeat(20), ""].map((text) => Buffer.from(text));
    frames.push(textFrame(parts));
    texts.push(parts.join(""));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The server has no port.");
    const client = new WebSocket(`ws://127.0.0.1:${address.port}`);
    const seen: string[] = [];
    await new Promise<void>((resolve, reject) => {
      client.on("error", reject);
      client.on("message", (data, binary) => {
        seen.push(binary ? "binary" : data.toString());
        if (seen.length === texts.length) resolve();
      });
    });
    client.close();
    expect(seen).toEqual(texts);
  });

  it("is split into fragments with pings in between if it is long", async () => {
    const texts = ["short", "a“ä𝄞”".repeat(5_000), "é".repeat(8_192)];
    frames.splice(0, frames.length, ...texts.map(textPieces));
    frames.push(textPieces(texts.map((text) => Buffer.from(text))));
    texts.push(texts.join(""));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The server has no port.");
    const client = new WebSocket(`ws://127.0.0.1:${address.port}`);
    const seen: string[] = [];
    const lengths: number[] = [];
    let joined = "";
    let pings = 0;
    client.on("ping", () => pings++);
    await new Promise<void>((resolve, reject) => {
      client.on("error", reject);
      client.on("message", (data) => {
        const piece = data.toString();
        lengths.push(Buffer.byteLength(piece));
        joined += piece;
        if (piece.endsWith(PIECE_MARK)) return;
        seen.push(joined.replaceAll(PIECE_MARK, ""));
        joined = "";
        if (seen.length === texts.length) resolve();
      });
    });
    client.close();
    expect(seen).toEqual(texts);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(8 * 1024 + 1);
    expect(pings).toBeGreaterThanOrEqual(lengths.length - 2);
  });
});
