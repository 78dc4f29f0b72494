import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { EmptyList } from "../../../src/web/screens/sessions/EmptyList.tsx";

it("names the folders of each agent that exist, or else the first, and counts the others once", () => {
  const root = (agent: string, path: string, exists = false) => ({ agent, path, exists });
  const roots = [
    root("codex", "/home/ada/.codex/sessions"),
    root("codex", "/home/ada/.codex/archived_sessions", true),
    root("cline", "/home/ada/.config/Code/tasks"),
    root("cline", "/home/ada/AppData/Code/tasks"),
    root("roo-code", "/home/ada/AppData/Code/tasks"),
    root("roo-code", "/home/ada/.config/Roo/tasks", true),
  ];
  render(
    <EmptyList
      loaded
      filtering={false}
      total={0}
      text=""
      problem={undefined}
      roots={roots}
      onClear={() => {}}
    />,
  );
  expect(screen.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual([
    "/home/ada/.codex/archived_sessions",
    "/home/ada/.config/Code/tasks",
    "/home/ada/.config/Roo/tasks",
    "and 2 other folders, listed in Settings",
  ]);
});
