import { fireEvent, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import { createStore, type StoreApi } from "zustand/vanilla";
import type { MapMarks } from "../../../src/model/parts/map-marks.ts";
import { OutlineMap, type PartsInView } from "../../../src/web/screens/session/OutlineMap.tsx";

const marks: MapMarks = {
  part_count: 1_000,
  marks: { prompt: [0, 500], edit: [40, 41, 700], run: [], compaction: [], error: [700] },
};
let went: number[];
let inView: StoreApi<PartsInView>;

beforeEach(() => {
  went = [];
  inView = createStore<PartsInView>(() => ({ from: 0, to: 19 }));
});
const show = (shown = marks): HTMLElement => {
  render(<OutlineMap marks={shown} inView={inView} onGo={(index) => went.push(index)} />);
  return screen.getByRole("slider", { name: "Map of the session" });
};

it("describes the position and content of the view", () => {
  const map = show();
  expect(map.getAttribute("aria-valuetext")).toBe("Part 1 of 1,000, 1 prompt");
  expect(map.getAttribute("aria-valuenow")).toBe("1");
});

it("moves by keys to the next and previous mark, by a view, and to both ends", async () => {
  inView.setState({ from: 41, to: 60 });
  show().focus();
  await userEvent.keyboard("{ArrowDown}{ArrowUp}{PageDown}{PageUp}{Home}{End}");
  expect(went).toEqual([500, 40, 60, 22, 0, 999]);
});

it("leaves other keys to the page", async () => {
  show().focus();
  await userEvent.keyboard("j{Control>}{ArrowDown}{/Control}");
  expect(went).toEqual([]);
});

it("scrolls to the clicked position within its session", () => {
  const map = show();
  const drawing = map.querySelector("svg");
  if (drawing === null) throw new Error("The map has no drawing.");
  drawing.getBoundingClientRect = () => DOMRect.fromRect({ y: 100, height: 500 });
  map.setPointerCapture = () => {};
  map.hasPointerCapture = () => true;
  fireEvent.pointerDown(map, { button: 0, clientY: 350 });
  fireEvent.pointerMove(map, { clientY: 90 });
  fireEvent.pointerMove(map, { clientY: 900 });
  expect(went).toEqual([500, 0, 999]);
});

it("draws at most one stroke per line for 20,000 marks", () => {
  const edits = Array.from({ length: 20_000 }, (_, at) => at);
  const map = show({ part_count: 20_000, marks: { ...marks.marks, edit: edits } });
  expect(map.querySelector(".map-edit")?.getAttribute("d")?.match(/M/g)).toHaveLength(500);
});
