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

/** One session in the page: its frames are folded as they arrive, and its parts are loaded when they scroll into view. */
export interface OpenSession {
  readonly id: string;
  readonly state: StoreApi<OpenSessionState>;
  /** Loads the missing parts of `[from, to)`. Resolves when they are loaded or have failed. */
  load(from: number, to: number): Promise<void>;
  /** The part at a position. If it is not loaded, the part that was there before the last snapshot. */
  partAt(index: number): TranscriptPart | undefined;
  /** The channel position of the state. `undefined`: nothing was received yet. */
  position(): ChannelPosition | undefined;
  /** Subscribes again to a session that was refused, because the daemon may have found it since. */
  retry(): void;
  /** Subscribes to the channel. Returns a function that unsubscribes; the last call ends the subscription and keeps the state. */
  subscribe(): () => void;
}

const NO_LIVE: readonly LivePart[] = [];
/** The state before anything was received. */
const NOTHING_RECEIVED: OpenSessionState = {
  change: { type: "reset" },
  live: NO_LIVE,
  synced: false,
  ended: false,
};
/** How many touched positions are kept, to tell whether a page of parts is older than the frames that arrived meanwhile. */
const MAX_TOUCHES = 4_000;
/** Minimum time between two snapshots that are requested because of a gap, in milliseconds. */
const RESYNC_MS = 2_000;

/** How a session reaches the daemon. */
interface SessionClient {
  readonly api: Pick<Api, "parts">;
  readonly live: Live;
}

/** Maximum number of sessions cached after the user left them, so that returning shows them immediately. */
const MAX_CACHED_SESSIONS = 6;
const cachedSessions = new WeakMap<Client, Map<string, OpenSession>>();

/** Returns the cached session, or creates it. */
export function openSession(client: Client, id: string): OpenSession {
  const open = cachedSessions.get(client) ?? new Map<string, OpenSession>();
  cachedSessions.set(client, open);
  const session = open.get(id) ?? createOpenSession(id, { api: apiOf(client), live: client.live });
  // Least recently used first. Screens that still show an evicted session hold a reference to it.
  open.delete(id);
  open.set(id, session);
  for (const oldest of open.keys()) {
    if (open.size <= MAX_CACHED_SESSIONS) break;
    open.delete(oldest);
  }
  return session;
}

/** Creates a session without caching it. The page uses `openSession`. */
export function createOpenSession(id: string, { api, live }: SessionClient): OpenSession {
  const state = createStore<OpenSessionState>(() => NOTHING_RECEIVED);
  let position: ChannelPosition | undefined;
  let subscription: Subscription | undefined;
  let subscribers = 0;
  let resynced_at = 0;
  /** The `seq` of the latest frames, and the index of the part that each one touched. */
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
      // If the file was rewritten, the former parts cannot serve as placeholders for the new ones.
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
      if (touches.length > 2 * MAX_TOUCHES) touches = touches.slice(-MAX_TOUCHES);
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
    loader.positionChanged();
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
    subscribe() {
      subscribers += 1;
      subscription ??= live.subscribe(outputChannel(id), apply, position);
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        subscribers -= 1;
        if (subscribers > 0) return;
        position = subscription?.end();
        subscription = undefined;
        if (state.getState().live.length > 0) state.setState({ live: NO_LIVE });
      };
    },
  };
}
