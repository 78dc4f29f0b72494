import { createElement, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { type ListProps, type Part, partsOf } from "./lists/row.tsx";

/** The virtual lists of peers, with the same rows. */
const LISTS: Record<string, () => Promise<{ List: (props: ListProps) => ReactNode }>> = {
  "everything-mounted": () => import("./lists/everything-mounted.tsx"),
  virtua: () => import("./lists/virtua.tsx"),
  tanstack: () => import("./lists/tanstack.tsx"),
};
const query = new URLSearchParams(location.search);
let parts: readonly Part[] = partsOf(Number(query.get("parts")));
const element = document.getElementById("root");
const load = LISTS[query.get("list") ?? ""];
if (!element || !load) throw new Error("unknown list");
const root = createRoot(element);
const { List } = await load();

const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));

/** Waits until the last part is in view. */
async function show(): Promise<void> {
  root.render(createElement(List, { parts }));
  const last = parts.at(-1)?.text.slice(-12) ?? "";
  for (let n = 0; n < 600; n++) {
    await frame();
    if (
      document.querySelector("[data-row]") &&
      (element?.textContent ?? "").slice(-400).includes(last.trim())
    )
      break;
  }
  await frame();
}

async function append(): Promise<void> {
  parts = [...parts, { kind: "thinking", text: `Appended line ${parts.length}.` }];
  await show();
}

Object.assign(window, { __show: show, __append: append, __ready: true });
