import { createElement, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { type ListProps, type Part, partsOf } from "./lists/row.tsx";

/** The lists that others would show a long transcript in, with rows of one and the same kind. */
const LISTS: Record<string, () => Promise<{ List: (props: ListProps) => ReactNode }>> = {
  "everything-mounted": () => import("./lists/everything-mounted.tsx"),
  virtua: () => import("./lists/virtua.tsx"),
  tanstack: () => import("./lists/tanstack.tsx"),
};
const query = new URLSearchParams(location.search);
let parts: readonly Part[] = partsOf(Number(query.get("parts")));
const element = document.getElementById("root");
const load = LISTS[query.get("list") ?? ""];
if (!element || !load) throw new Error("no such list");
const root = createRoot(element);
const { List } = await load();

const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
const scroller = (): Element => {
  const found = document.querySelector("[data-scroller]");
  if (!found) throw new Error("nothing scrolls");
  return found;
};

/** Until the last part is in the view. */
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

/**
 * What share of five probes in the view met no row, in each step of a fling and after jumps. Two frames for each: one more than
 * the product is given.
 */
async function blanks(): Promise<{ fling: number; jumps: number; frames_ms: number[] }> {
  const region = scroller();
  const probe = (): number => {
    const box = region.getBoundingClientRect();
    const bare = [0.05, 0.3, 0.5, 0.7, 0.95].filter((share) => {
      const found = document.elementFromPoint(box.left + box.width / 2, box.top + box.height * share);
      return !found?.closest("[data-row]");
    });
    return bare.length / 5;
  };
  region.scrollTop = region.scrollHeight * 0.4;
  await frame();
  await frame();
  const frames_ms: number[] = [];
  let fling = 0;
  let last = await frame();
  for (let n = 0; n < 60; n++) {
    region.scrollTop += 250;
    await frame();
    const now = await frame();
    frames_ms.push((now - last) / 2);
    last = now;
    fling += probe();
  }
  let jumps = 0;
  for (let n = 0; n < 20; n++) {
    region.scrollTop = region.scrollHeight * ((n * 7) % 20) * 0.05;
    await frame();
    await frame();
    jumps += probe();
  }
  return { fling: fling / 60, jumps: jumps / 20, frames_ms };
}

Object.assign(window, { __show: show, __append: append, __blanks: blanks, __ready: true });
