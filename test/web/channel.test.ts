import fc from "fast-check";
import { expect, test } from "vitest";
import type { Frame } from "../../src/model/frames/frame.ts";
import type { ServerMessage } from "../../src/protocol.ts";
import {
  type ChannelPosition,
  channelStart,
  receive,
  subscribed,
  subscription,
} from "../../src/web/api/channel.ts";
import { createLive } from "../../src/web/api/live.ts";

const CHANNEL = "output:0b9c8f5e-1111-4222-8333-444455556666";

/** The kind of frame does not matter here, only which ones were applied, and in which order. */
const frameOf = (epoch: number, seq: number): Frame => ({
  type: "context.usage",
  session_id: "0b9c8f5e-1111-4222-8333-444455556666",
  at: epoch,
  tokens: seq,
});
const nameOf = (frame: Frame): string => `${frame.at}.${frame.type === "context.usage" ? frame.tokens : "?"}`;

/** The daemon's side of the protocol: a log per life, replies to subscriptions, and its own messages. */
function createDaemon(held: number) {
  let epoch = 1;
  let seq = 0;
  const snapshot = (reason: "first" | "epoch" | "too_old"): ServerMessage[] => [
    { type: "snapshot", channel: CHANNEL, epoch: `e${epoch}`, seq, reason },
    { type: "synced", channel: CHANNEL, epoch: `e${epoch}`, seq },
  ];
  const frames = (after: number): ServerMessage => ({
    type: "frames",
    channel: CHANNEL,
    epoch: `e${epoch}`,
    frames: Array.from({ length: seq - after }, (_, at) => ({
      seq: after + at + 1,
      frame: frameOf(epoch, after + at + 1),
    })),
  });
  return {
    write(count: number): ServerMessage[] {
      const before = seq;
      seq += count;
      return [frames(before)];
    },
    rewrite(): ServerMessage[] {
      epoch += 1;
      seq = 3;
      return snapshot("epoch");
    },
    answer(position: ChannelPosition): ServerMessage[] {
      const message = subscription(position);
      if (message.type !== "subscribe" || message.after_seq === undefined) return snapshot("first");
      if (message.epoch !== `e${epoch}`) return snapshot("epoch");
      if (message.after_seq < seq - held || message.after_seq > seq) return snapshot("too_old");
      return [frames(message.after_seq), { type: "synced", channel: CHANNEL, epoch: `e${epoch}`, seq }];
    },
    heartbeat: (): ServerMessage => ({
      type: "heartbeat",
      at: 0,
      positions: { [CHANNEL]: { epoch: `e${epoch}`, seq } },
    }),
    /** All frames of this life. */
    truth: () => Array.from({ length: seq }, (_, at) => `${epoch}.${at + 1}`),
  };
}

/** A client that records the names of applied frames; a snapshot counts as all frames up to its seq. */
function createView() {
  let position = channelStart(CHANNEL);
  let applied: string[] = [];
  return {
    get position() {
      return position;
    },
    get applied() {
      return applied;
    },
    connect() {
      position = subscribed(position);
      return position;
    },
    take(message: ServerMessage): boolean {
      const received = receive(position, message);
      position = received.position;
      if (received.snapshot !== undefined) {
        const epoch = received.snapshot.epoch.slice(1);
        applied = Array.from({ length: received.snapshot.seq }, (_, at) => `${epoch}.${at + 1}`);
      }
      for (const { frame } of received.frames ?? []) applied.push(nameOf(frame));
      return received.subscribe === true;
    },
  };
}

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("write" as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("rewrite" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cut" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("heartbeat" as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("deliver" as const), at: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("drop" as const), at: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("repeat" as const), at: fc.nat(5) }) },
);

test("any interleaving of disconnects, losses, repeats, reordering and snapshots ends in the undisturbed state", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), fc.integer({ min: 0, max: 8 }), (actions, held) => {
      const daemon = createDaemon(held);
      const view = createView();
      let messages: ServerMessage[] = daemon.answer(view.connect());
      const take = (message: ServerMessage): void => {
        if (view.take(message)) messages.push(...daemon.answer(view.position));
        // No frame is applied twice, out of order, or from two lives.
        expect(view.applied).toEqual([...new Set(view.applied)]);
        expect(view.applied.map((name) => Number(name.split(".")[1]))).toEqual(
          view.applied.map((_, at) => at + 1),
        );
        expect(new Set(view.applied.map((name) => name.split(".")[0])).size).toBeLessThanOrEqual(1);
      };
      for (const step of actions) {
        switch (step.do) {
          case "write":
            messages.push(...daemon.write(step.count));
            break;
          case "rewrite":
            messages.push(...daemon.rewrite());
            break;
          case "cut":
            // Messages in transit are lost with their socket.
            messages = daemon.answer(view.connect());
            break;
          case "heartbeat":
            messages.push(daemon.heartbeat());
            break;
          case "deliver": {
            // Any of the next few messages, to reorder them.
            const [message] = messages.splice(step.at % Math.max(1, messages.length), 1);
            if (message !== undefined) take(message);
            break;
          }
          case "drop":
            messages.splice(step.at % Math.max(1, messages.length), 1);
            break;
          case "repeat": {
            const message = messages[step.at % Math.max(1, messages.length)];
            if (message !== undefined) messages.push(message);
            break;
          }
        }
      }
      // The network recovers: heartbeats reveal every remaining gap.
      for (let round = 0; round < 4; round += 1) {
        while (messages.length > 0) {
          const message = messages.shift();
          if (message !== undefined) take(message);
        }
        messages.push(daemon.heartbeat());
      }
      expect(view.applied).toEqual(daemon.truth());
      expect(view.position.synced).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("a gap is requested once, and again only after a heartbeat without an answer", () => {
  const daemon = createDaemon(100);
  const view = createView();
  for (const message of daemon.answer(view.connect())) view.take(message);
  daemon.write(2);
  const [later] = daemon.write(1);
  const [evenLater] = daemon.write(1);
  if (later === undefined || evenLater === undefined) throw new Error("The daemon wrote nothing.");
  expect(view.take(later)).toBe(true);
  expect(view.take(evenLater)).toBe(false);
  expect(view.take(daemon.heartbeat())).toBe(false);
  expect(view.take(daemon.heartbeat())).toBe(true);
});

test("a missed row of the list is requested, and a repeated one changes nothing", () => {
  const start: ChannelPosition = { channel: "sessions", epoch: "a", seq: 4, synced: true };
  const row = (seq: number): ServerMessage => ({
    type: "sessions",
    channel: "sessions",
    epoch: "a",
    seq,
    changed: [],
    removed: [],
  });
  expect(receive(start, row(5))).toMatchObject({ position: { seq: 5 }, rows: { seq: 5 } });
  expect(receive(start, row(4))).toEqual({ position: start });
  expect(receive(start, row(6))).toMatchObject({ position: { seq: 4 }, subscribe: true });
});

test("a refused channel is not requested again on this connection", () => {
  const refused = receive(subscribed(channelStart(CHANNEL)), {
    type: "refused",
    channel: CHANNEL,
    code: "session",
    message: "There is no such session.",
  });
  expect(refused.refused?.message).toBe("There is no such session.");
  for (let beat = 0; beat < 3; beat += 1)
    expect(receive(refused.position, { type: "heartbeat", at: 0, positions: {} }).subscribe).toBeUndefined();
});

test("requests a refused session again from its position", () => {
  const channel = CHANNEL;
  const sent: unknown[] = [];
  const socket = {
    readyState: WebSocket.OPEN,
    send: (text: string) => void sent.push(JSON.parse(text)),
    close() {},
    onopen: undefined as (() => void) | undefined,
    onmessage: undefined as ((event: { data: string }) => void) | undefined,
  };
  const live = createLive({
    url: "ws://localhost/",
    probe: () => Promise.resolve("ok"),
    // Only the used members.
    openSocket: () => socket as unknown as WebSocket,
  });
  socket.onopen?.();
  const position = { channel, epoch: "earlier", seq: 5, check: "digest", synced: true };
  const subscription = live.subscribe(channel, () => {}, position);
  socket.onmessage?.({
    data: JSON.stringify({ type: "refused", channel, code: "no_channel", message: "No such channel." }),
  });
  subscription.retry();
  const request = { type: "subscribe", channel, epoch: "earlier", after_seq: 5, check: "digest" };
  expect(sent).toEqual([request, request]);
  live.close();
});
