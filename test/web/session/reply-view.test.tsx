import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ReplyView } from "../../../src/web/screens/session/inspect/ReplyView.tsx";
import { t } from "../../../src/web/text/text.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("says why a reply takes long, until it is there", async () => {
  const reply = Promise.withResolvers<{ ok: true; value: string }>();
  const load = () => reply.promise;
  render(<ReplyView load={load}>{(value) => <p>{value}</p>}</ReplyView>);
  expect(screen.getByText(t.changes.loading)).toBeDefined();
  expect(screen.queryByText(t.changes.slow)).toBeNull();
  act(() => void vi.advanceTimersByTime(10_000));
  expect(screen.getByText(t.changes.slow)).toBeDefined();
  await act(async () => reply.resolve({ ok: true, value: "All of it" }));
  expect(screen.getByText("All of it")).toBeDefined();
  expect(screen.queryByText(t.changes.slow)).toBeNull();
});
