import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import "../src/web/text/inspect-text.ts";
import "../src/web/text/screens-text.ts";
import "../src/web/text/session-text.ts";
import { loadAllOnDemand } from "../src/web/ui/on-demand.tsx";

// As long as every other wait of a test (`eventually`, `expect.poll`); a check that passes does not wait.
configure({ asyncUtilTimeout: 60_000 });

// A simulated document has no layout, so nothing in it ever changes its size.
globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};

// All of it is on screen.
Object.defineProperty(HTMLElement.prototype, "clientHeight", { get: () => 800 });

// Nor is it ever narrow.
globalThis.matchMedia ??= (media) =>
  Object.assign(new EventTarget(), { media, matches: false }) as MediaQueryList;

// Its dialogs do not open yet: what is on the page behind them stays reachable, which no test here looks at.
HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  if (!this.open) return;
  this.open = false;
  // As the standard has it: in a task of its own.
  setTimeout(() => this.dispatchEvent(new Event("close")));
};

// As after the page was idle for a moment. How it is before that, `on-demand.test.tsx` and the tests in a browser look at.
beforeAll(loadAllOnDemand);

const spies = () => [vi.spyOn(console, "error"), vi.spyOn(console, "warn")];
let watched: ReturnType<typeof spies> = [];

beforeEach(() => {
  watched = spies();
});

/** A warning that nobody asked for is a failure: React reports misuse nowhere else. */
afterEach(() => {
  cleanup();
  const said = watched.flatMap((spy) => spy.mock.calls.map((call) => call.map(String).join(" ")));
  for (const spy of watched) spy.mockRestore();
  expect(said).toEqual([]);
});
