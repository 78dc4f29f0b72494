import { renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createStore } from "zustand/vanilla";
import { sparseSequence } from "../../../src/model/transcript/sequence.ts";
import { emptyTranscript, type Transcript } from "../../../src/model/transcript/transcript-state.ts";
import type { OpenSession, OpenSessionState } from "../../../src/web/app/open-session.ts";
import { useReloadOnGrowth } from "../../../src/web/screens/session/use-reload-on-growth.ts";
import { uuidOf } from "../../uuid-of.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sizeOf = (transcript: Transcript | undefined): number => transcript?.parts.length ?? 0;

function sessionOf(parts: number) {
  const id = uuidOf("session");
  const stateWith = (count: number): OpenSessionState => ({
    transcript: { ...emptyTranscript(id), parts: sparseSequence(count) },
    change: { type: "reset" },
    live: [],
    synced: true,
    ended: false,
  });
  const state = createStore<OpenSessionState>(() => stateWith(parts));
  const session: OpenSession = {
    id,
    state,
    load: async () => {},
    partAt: () => undefined,
    position: () => undefined,
    retry() {},
    subscribe: () => () => {},
  };
  return { session, grow: (count: number) => state.setState(stateWith(count), true) };
}

it("loads again after the session grew, also if it grew while it was loaded", async () => {
  const { session, grow } = sessionOf(1);
  const loads: PromiseWithResolvers<number>[] = [];
  const load = (): Promise<number> => {
    const reply = Promise.withResolvers<number>();
    loads.push(reply);
    return reply.promise;
  };
  const options = { isWanted: true, first: 0, sizeOf, load };
  const { unmount } = renderHook(() => useReloadOnGrowth(session, options));
  await vi.advanceTimersByTimeAsync(0);
  expect(loads).toHaveLength(1);

  grow(2);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(loads).toHaveLength(1);
  loads[0]?.resolve(1_000);
  await vi.advanceTimersByTimeAsync(999);
  expect(loads).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(loads).toHaveLength(2);

  loads[1]?.resolve(1_000);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(loads).toHaveLength(2);
  grow(3);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(loads).toHaveLength(3);
  unmount();
  loads[2]?.resolve(1_000);
  grow(4);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(loads).toHaveLength(3);
});
