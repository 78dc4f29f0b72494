import { createStore, type StoreApi } from "zustand/vanilla";
import { changeLive, type LivePart } from "../../model/live-text.ts";
import { accumulate, restoreTranscript } from "../../model/transcript/accumulate.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import { outputChannel } from "../../protocol.ts";
import { type Api, apiOf } from "../api/api.ts";
import type { ChannelPosition } from "../api/channel.ts";
import type { Batch, Live, Subscription } from "../api/live.ts";
import type { Change, OpenSessionState } from "./open-session-state.ts";
import { createPartLoader } from "./part-loader.ts";
import type { Client } from "./store.ts";

export type { OpenSessionState };

/** One session as the page holds it: folded live, its pages filled as they are looked at. */
export interface OpenSession {
  readonly id: string;
  readonly state: StoreApi<OpenSessionState>;
  /** Loads the missing parts of `[from, to)`. Resolves when they are loaded or have failed. */
  load(from: number, to: number): Promise<void>;
  /** The part at a position, or the one that was there before a snapshot. */
  partAt(index: number): TranscriptPart | undefined;
  /** The frames that the state has; `undefined`: none came yet. */
  position(): ChannelPosition | undefined;
  /** Asks anew for a session that was refused: the daemon has found it since. */
  retry(): void;
  /** Subscribes to the channel until every `follow` has ended. The folded state is kept for a return. */
  follow(): () => void;
}

const NO_LIVE: readonly LivePart[] = [];
/** Nothing came from the daemon yet. */
const UNREAD: OpenSessionState = { change: { type: "reset" }, live: NO_LIVE, synced: false, ended: false };
/** How many touched positions are remembered to judge a page that was read while frames arrived. */
const REMEMBERED = 4_000;
/** Delay before another snapshot is requested if one leaves a gap, in milliseconds. */
const RESYNC_MS = 2_000;

/** What a session needs of the page: its ways to the daemon. */
interface SessionClient {
  readonly api: Pick<Api, "parts">;
  readonly live: Live;
}

/** Sessions kept folded after they were left, for a way back without waiting. */
const KEPT_SESSIONS = 6;
const kept = new WeakMap<Client, Map<string, OpenSession>>();

/** The session as this page holds it; made at the first call. */
export function openSession(client: Client, id: string): OpenSession {
  const open = kept.get(client) ?? new Map<string, OpenSession>();
  kept.set(client, open);
  const session = open.get(id) ?? createOpenSession(id, { api: apiOf(client), live: client.live });
  // Least recently used first. Screens that still show an evicted session hold a reference to it.
  open.delete(id);
  open.set(id, session);
  for (const oldest of open.keys()) {
    if (open.size <= KEPT_SESSIONS) break;
    open.delete(oldest);
  }
  return session;
}

/** A session without the cache. The page uses `openSession`. */
export function createOpenSession(id: string, { api, live }: SessionClient): OpenSession {
  const state = createStore<OpenSessionState>(() => UNREAD);
  let position: ChannelPosition | undefined;
  let subscription: Subscription | undefined;
  let followers = 0;
  let resynced_at = 0;
  /** The newest frames' seq and the part that each touched. */
  let touches: { seq: number; index: number }[] = [];
  const loader = createPartLoader({
    id,
    api,
    state,
    position: () => position,
    isTouched: (seq, from, to) =>
      touches.some((touch) => touch.seq > seq && touch.index >= from && touch.index < to),
  });

  const apply = (batch: Batch): void => {
    const before = state.getState();
    let { transcript, summary, stale, live } = before;
    let change: Change = { type: "parts", touched: [] };
    if (batch.snapshot?.page !== undefined) {
      const { page, reason } = batch.snapshot;
      // After a rewrite of the file, the former parts are no placeholder for the new ones.
      if (transcript !== undefined && reason !== "rewritten") stale = transcript.parts;
      else stale = undefined;
      transcript = restoreTranscript({ ...page, session_id: id });
      summary = page.session;
      touches = [];
      change = { type: "reset" };
    }
    const touched = new Set<number>();
    let ended = batch.snapshot === undefined && before.ended;
    if (transcript !== undefined) {
      let seq = batch.position.seq - batch.frames.length;
      for (const frame of batch.frames) {
        seq += 1;
        transcript = accumulate(transcript, frame);
        if (frame.part_index !== undefined) {
          touched.add(frame.part_index);
          touches.push({ seq, index: frame.part_index });
        }
        if (frame.type === "end") ended = true;
      }
      if (touches.length > 2 * REMEMBERED) touches = touches.slice(-REMEMBERED);
    }
    if (batch.live !== undefined) live = changeLive(live, batch.live);
    position = batch.position;
    if (change.type === "parts") change = { type: "parts", touched: [...touched] };
    state.setState(
      {
        ...(transcript === undefined ? {} : { transcript }),
        ...(summary === undefined ? {} : { summary }),
        ...(stale === undefined ? {} : { stale }),
        ...(batch.refused === undefined ? {} : { refused: batch.refused }),
        change,
        live,
        synced: batch.position.synced,
        ended,
      },
      true,
    );
    loader.moved();
    if (transcript?.gap !== undefined && Date.now() - resynced_at > RESYNC_MS) {
      resynced_at = Date.now();
      subscription?.restart();
    }
  };

  return {
    id,
    state,
    load: loader.load,
    partAt(index) {
      const { transcript, stale } = state.getState();
      return transcript?.parts.at(index) ?? stale?.at(index);
    },
    position: () => position,
    retry: () => subscription?.retry(),
    follow() {
      followers += 1;
      subscription ??= live.subscribe(outputChannel(id), apply, position);
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        followers -= 1;
        if (followers > 0) return;
        position = subscription?.end();
        subscription = undefined;
        if (state.getState().live.length > 0) state.setState({ live: NO_LIVE });
      };
    },
  };
}
