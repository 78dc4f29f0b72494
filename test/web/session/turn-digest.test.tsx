import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { TurnDigest } from "../../../src/web/screens/session/TurnDigest.tsx";

const tool = (name: string, count: number) => ({ name, count });

it("names the four most frequent tools of a turn, and counts the other calls", () => {
  const digest = { steps: 1, files: 0, additions: 0, deletions: 0, errors: 0, edits: [] };
  const show = (others: number) => (
    <TurnDigest
      digest={{
        ...digest,
        tools: [tool("A", 5), tool("B", 4), tool("C", 3), tool("D", 2), tool("E", others)],
      }}
      time={undefined}
      onOpen={() => {}}
    />
  );
  const { rerender } = render(show(1));
  expect(screen.getByRole("button").textContent).toBe("1 step · 5 A · 4 B · 3 C · 2 D · 1 other call");
  rerender(show(2));
  expect(screen.getByRole("button").textContent).toContain("2 other calls");
});
