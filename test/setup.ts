import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import "../src/web/text/inspect-text.ts";
import "../src/web/text/screens-text.ts";
import "../src/web/text/session-text.ts";
import { loadAllOnDemand } from "../src/web/ui/on-demand.tsx";
import "./computed-style.ts";
import "./late-messages.ts";

// The same as other timeouts in tests (`eventually`, `expect.poll`); a passing check does not wait.
configure({ asyncUtilTimeout: 60_000 });

// A simulated document has no layout, so no element changes its size.
globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};

// Everything is on screen.
Object.defineProperty(HTMLElement.prototype, "clientHeight", { configurable: true, get: () => 800 });

// It is never narrow.
globalThis.matchMedia ??= (media) =>
  Object.assign(new EventTarget(), { media, matches: false }) as MediaQueryList;

// jsdom cannot open dialogs. Here the page behind them stays reachable, which no test checks.
HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  if (!this.open) return;
  this.open = false;
  // In a separate task, as in the standard.
  setTimeout(() => this.dispatchEvent(new Event("close")));
};

// As after the page was idle for a moment. The state before that is tested by `on-demand.test.tsx` and the browser tests.
beforeAll(loadAllOnDemand);

const spies = () => [vi.spyOn(console, "error"), vi.spyOn(console, "warn")];
let watched: ReturnType<typeof spies> = [];

beforeEach(() => {
  watched = spies();
});

/** An unexpected warning is a failure, because React reports misuse only there. */
afterEach(() => {
  cleanup();
  const said = watched.flatMap((spy) => spy.mock.calls.map((call) => call.map(String).join(" ")));
  for (const spy of watched) spy.mockRestore();
  expect(said).toEqual([]);
});
