import type { StoreApi } from "zustand/vanilla";
import { fillParts } from "../../model/transcript/accumulate.ts";
import { PAGE_SIZE, type PlacedPart } from "../../protocol.ts";
import type { Api } from "../api/api.ts";
import type { ChannelPosition } from "../api/channel.ts";
import type { OpenSessionState } from "./open-session-state.ts";

interface LoadedSession {
  readonly id: string;
  readonly api: Pick<Api, "parts">;
  readonly state: StoreApi<OpenSessionState>;
  /** The channel position of the state. `undefined`: nothing was received yet. */
  position(): ChannelPosition | undefined;
  /** Whether a frame after `seq` touched a part of `[from, to)`. */
  isTouched(seq: number, from: number, to: number): boolean;
}

/** Loads pages of a session's parts into its state. */
interface PartLoader {
  /** Loads the missing parts of `[from, to)`. Resolves when they are loaded or have failed. */
  load(from: number, to: number): Promise<void>;
  /** Call after the position has changed: fills in pages that were waiting for its frames. */
  positionChanged(): void;
}

/** Creates the loader of one session. */
export function createPartLoader({ id, api, state, position, isTouched }: LoadedSession): PartLoader {
  const loading = new Map<number, Promise<void>>();
  let waitingPages: { epoch: string; seq: number; resolve: () => void }[] = [];

  /** Resolves when the frames that are already part of a page have arrived on the channel, too. */
  const framesArrived = (epoch: string, seq: number): Promise<void> => {
    const now = position();
    return now === undefined || now.epoch !== epoch || now.seq >= seq
      ? Promise.resolve()
      : new Promise((resolve) => {
          waitingPages.push({ epoch, seq, resolve });
        });
  };

  const loadParts = async (from: number, to: number): Promise<void> => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const reply = await api.parts(id, from, to);
      if (!reply.ok) {
        state.setState({ failure: reply.failure, change: { type: "parts", touched: [] } });
        return;
      }
      const { epoch, seq, parts, part_count } = reply.value;
      await framesArrived(epoch, seq);
      const now = position();
      if (now !== undefined && now.epoch !== epoch) continue;
      // A frame changed a part of this page after the daemon had read the page: load it again.
      if (isTouched(seq, from, to)) continue;
      fill(state, parts);
      // The daemon sends fewer parts than requested if they are long.
      const received = new Set(parts.map(({ index }) => index));
      let next = from;
      while (received.has(next)) next += 1;
      if (next > from && next < Math.min(to, part_count)) await loadParts(next, to);
      return;
    }
  };

  return {
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
    positionChanged() {
      const now = position();
      if (now === undefined) return;
      const ready = waitingPages.filter((page) => page.epoch !== now.epoch || page.seq <= now.seq);
      if (ready.length === 0) return;
      waitingPages = waitingPages.filter((page) => !ready.includes(page));
      for (const page of ready) page.resolve();
    },
  };
}

function fill(state: StoreApi<OpenSessionState>, parts: readonly PlacedPart[]): void {
  const { transcript, ...rest } = state.getState();
  if (transcript === undefined) return;
  // Keep the parts that are already here: they include the latest frames, and the page may be older.
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
}
