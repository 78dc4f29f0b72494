import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useNow } from "../../../src/web/ui/use-now.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

test("an age is rendered once, and again each time it changes", () => {
  const drawn: number[] = [];
  const Age = () => {
    const now = useNow(1_000);
    drawn.push(now);
    // Rendering takes time.
    vi.setSystemTime(Date.now() + 5);
    return <p>{now}</p>;
  };
  render(<Age />);
  expect(drawn).toEqual([1_000_000]);
  act(() => vi.advanceTimersByTime(1_000));
  act(() => vi.advanceTimersByTime(1_000));
  expect(drawn).toHaveLength(3);
  expect(Number(screen.getByText(/^\d+$/).textContent)).toBeGreaterThanOrEqual(1_002_000);
});
