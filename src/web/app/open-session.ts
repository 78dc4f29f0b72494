import { createStore, type StoreApi } from "zustand/vanilla";
import { changeLive, type LivePart } from "../../model/live-text.ts";
import type { SessionSummary } from "../../model/session.ts";
import { accumulate, fillParts, restoreTranscript } from "../../model/transcript/accumulate.ts";
import type { Sequence } from "../../model/transcript/sequence.ts";
import type { TranscriptPart } from "../../model/transcript/transcript.ts";
import type { Transcript } from "../../model/transcript/transcript-state.ts";
import { outputChannel, PAGE_SIZE, type PlacedPart } from "../../protocol.ts";
import { type Api, apiOf } from "../api/api.ts";
import type { ChannelPosition } from "../api/channel.ts";
import type { Batch, Live, Subscription } from "../api/live.ts";
import type { ApiFailure } from "../api/requests.ts";
import type { Client } from "./store.ts";

/** What changed with a state, so that a view of many parts looks only at those. */
type Change =
  /** Everything may differ: a first state, or a snapshot. */
  | { readonly type: "reset" }
  /** Positions whose parts differ, beside those appended. */
  | { readonly type: "parts"; readonly touched: readonly number[] };

export interface OpenSessionState {
  readonly transcript?: Transcript;
  /** The row as the last snapshot had it; the list's own row is newer. */
  readonly summary?: SessionSummary;
  /** Parts from before a snapshot, shown where the new ones are not loaded yet. */
  readonly stale?: Sequence<TranscriptPart>;
  readonly change: Change;
  /** What the agent has written and not recorded yet: shown, and no part of the transcript. */
  readonly live: readonly LivePart[];
  /** The daemon says that there is no such session, or will not show it. */
  readonly refused?: { readonly code: string; readonly message: string };
  /** Everything that the daemon had at its last message is loaded. */
  readonly synced: boolean;
  /** The channel is over: nothing follows. */
  readonly ended: boolean;
  /** A page that could not be loaded; tried again with the next scroll. */
  readonly failure?: ApiFailure;
}

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
  const state = createStore<OpenSessionState>(() => ({
    change: { type: "reset" },
    live: NO_LIVE,
    synced: false,
    ended: false,
  }));
  let position: ChannelPosition | undefined;
  let subscription: Subscription | undefined;
  let followers = 0;
  let resynced_at = 0;
  /** The newest frames' seq and the part that each touched. */
  let touches: { seq: number; index: number }[] = [];
  const loading = new Map<number, Promise<void>>();
  let waitingPages: { epoch: string; seq: number; settle: () => void }[] = [];

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
    const ready = waitingPages.filter((page) => page.epoch !== position?.epoch || page.seq <= position.seq);
    if (ready.length > 0) {
      waitingPages = waitingPages.filter((page) => !ready.includes(page));
      for (const page of ready) page.settle();
    }
    if (transcript?.gap !== undefined && Date.now() - resynced_at > RESYNC_MS) {
      resynced_at = Date.now();
      subscription?.restart();
    }
  };

  /** Waits until the frames that a page already contains have arrived here too. */
  const reached = (epoch: string, seq: number): Promise<void> =>
    position === undefined || position.epoch !== epoch || position.seq >= seq
      ? Promise.resolve()
      : new Promise((settle) => {
          waitingPages.push({ epoch, seq, settle });
        });

  const fill = (parts: readonly PlacedPart[]): void => {
    const { transcript, ...rest } = state.getState();
    if (transcript === undefined) return;
    // What is here was folded up to the last frame; a page may be older.
    const missing = parts.filter(({ index }) => transcript.parts.at(index) === undefined);
    if (missing.length === 0) return;
    const { failure: _, ...kept } = rest;
    state.setState(
      {
        ...kept,
        transcript: fillParts(transcript, missing),
        change: { type: "parts", touched: missing.map(({ index }) => index) },
      },
      true,
    );
  };

  const loadParts = async (from: number, to: number): Promise<void> => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const reply = await api.parts(id, from, to);
      if (!reply.ok) {
        state.setState({ failure: reply.failure, change: { type: "parts", touched: [] } });
        return;
      }
      const { epoch, seq, parts, part_count } = reply.value;
      await reached(epoch, seq);
      if (position !== undefined && position.epoch !== epoch) continue;
      // A frame that arrived after the page was read changed one of its parts before that was loaded.
      const outdated = touches.some((touch) => touch.seq > seq && touch.index >= from && touch.index < to);
      if (outdated) continue;
      fill(parts);
      // The daemon sends fewer parts than requested if they are long.
      const come = new Set(parts.map(({ index }) => index));
      let next = from;
      while (come.has(next)) next += 1;
      if (next > from && next < Math.min(to, part_count)) await loadParts(next, to);
      return;
    }
  };

  return {
    id,
    state,
    async load(from, to) {
      const { transcript } = state.getState();
      if (transcript === undefined) return;
      const last = Math.min(to, transcript.parts.length);
      const wanted = new Set<number>();
      for (let index = Math.max(0, from); index < last; index += 1)
        if (transcript.parts.at(index) === undefined) wanted.add(Math.floor(index / PAGE_SIZE));
      await Promise.all(
        [...wanted].map((page) => {
          const started =
            loading.get(page) ??
            loadParts(page * PAGE_SIZE, (page + 1) * PAGE_SIZE).finally(() => {
              loading.delete(page);
            });
          loading.set(page, started);
          return started;
        }),
      );
    },
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
