import { renderHook } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { createStore } from "zustand/vanilla";
import { sparseSequence } from "../../../src/model/transcript/sequence.ts";
import { emptyTranscript } from "../../../src/model/transcript/transcript-state.ts";
import { MAX_OVERVIEW_PARTS } from "../../../src/protocol.ts";
import type { OpenSession, OpenSessionState } from "../../../src/web/app/open-session.ts";
import { ClientProvider, createClient } from "../../../src/web/app/store.ts";
import { useMap } from "../../../src/web/screens/session/use-map.ts";
import { uuidOf } from "../../uuid-of.ts";

const ID = uuidOf("session");

afterEach(() => vi.unstubAllGlobals());

it.each([
  ["requests the map of a session", MAX_OVERVIEW_PARTS, 1],
  ["requests none if the daemon would refuse it because of too many parts", MAX_OVERVIEW_PARTS + 1, 0],
])("%s", async (_, parts, requests) => {
  const fetched = vi.fn(async () => new Response("{}"));
  vi.stubGlobal("fetch", fetched);
  // A socket that never opens: the map is requested over HTTP.
  const socket = { readyState: 0, close() {}, send() {} } as unknown as WebSocket;
  const client = createClient({ origin: "http://127.0.0.1", openSocket: () => socket });
  const state = createStore<OpenSessionState>(() => ({
    transcript: { ...emptyTranscript(ID), parts: sparseSequence(parts) },
    change: { type: "reset" },
    live: [],
    synced: true,
    ended: false,
  }));
  const read = vi.spyOn(state, "getState");
  const session: OpenSession = {
    id: ID,
    state,
    load: async () => {},
    partAt: () => undefined,
    position: () => undefined,
    retry() {},
    subscribe: () => () => {},
  };
  renderHook(() => useMap(session, true), {
    wrapper: ({ children }) => <ClientProvider value={client}>{children}</ClientProvider>,
  });
  await vi.waitFor(() => expect(read.mock.calls.length).toBeGreaterThan(1));
  expect(fetched).toHaveBeenCalledTimes(requests);
});
