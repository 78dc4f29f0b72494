import { act, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { ExactText } from "../../../src/web/ui/ExactText.tsx";

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The content of the box, with each sign as its name in brackets. */
function signs(text: string): string {
  const { container, unmount } = render(<ExactText text={text} label="command" />);
  for (const sign of container.querySelectorAll(".exact-sign")) {
    sign.textContent = `[${sign.className.replace("exact-sign exact-", "")} ${JSON.stringify(sign.textContent)}]`;
  }
  const shown = container.querySelector("pre")?.textContent ?? "";
  unmount();
  return shown;
}

it("shows tabs, spaces at line ends, and all line ends except the last as signs that contain them", () => {
  expect(signs("a")).toBe("a");
  expect(signs("a\nb\n")).toBe('a[newline "\\n"]b[newline "\\n"]');
  expect(signs("\ta\tb c")).toBe('[tab "\\t"]a[tab "\\t"]b c');
  expect(signs("a \t\nb  ")).toBe('a[space " "][tab "\\t"][newline "\\n"]b[space " "][space " "]');
  expect(signs(" a b")).toBe(" a b");
  expect(signs("")).toBe("");
});

it("shows many consecutive equal blanks as one sign with their number", () => {
  const { container } = render(
    <ExactText text={`${"\t".repeat(3_000)}x${" ".repeat(17)}`} label="command" />,
  );
  const counts = [...container.querySelectorAll(".exact-many")].map((sign) => [
    sign.getAttribute("data-count"),
    sign.textContent?.length,
  ]);
  expect(counts).toEqual([
    ["→ × 3,000", 3_000],
    ["· × 17", 17],
  ]);
});

it.each([
  { name: "800 lines", text: "a\t\u200b\n".repeat(800) },
  { name: "one line of tabs and letters", text: `${"a\t".repeat(4_100)}\u202eb  ` },
  { name: "a line of pairs", text: `x${"😀".repeat(10_000)}` },
])("marks only text near the view, and contains all of the text: $name", ({ text }) => {
  const observers: { near: () => void; place?: Element }[] = [];
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      #seen;
      constructor(told: (entries: object[]) => void) {
        this.#seen = { near: () => told([{ isIntersecting: true }]) };
        observers.push(this.#seen);
      }
      observe(place: Element) {
        Object.assign(this.#seen, { place });
      }
      disconnect() {}
    },
  );
  const { container } = render(<ExactText text={text} label="command" />);
  const isWhole = () =>
    (container.textContent ?? "").replaceAll("U+200B", "\u200b").replace("U+202E", "\u202e") === text;
  expect(isWhole()).toBe(true);
  expect(container.querySelectorAll("*").length).toBeLessThan(5_000);
  const far = container.querySelectorAll(".exact-far").length;
  expect(far).toBeGreaterThan(1);
  const last = observers.find(({ place }) => place === [...container.querySelectorAll(".exact-far")].at(-1));
  act(() => last?.near());
  expect(container.querySelectorAll(".exact-far").length).toBe(far - 1);
  expect(isWhole()).toBe(true);
  // A printed page has no viewport.
  act(() => void dispatchEvent(new Event("beforeprint")));
  expect(container.querySelector(".exact-far")).toBeNull();
  expect(isWhole()).toBe(true);
});

it("is in a labelled box, left to right, with each word marked separately", () => {
  render(<ExactText text={"a\u202eb\tc"} label="command" />);
  const box = screen.getByRole("group", { name: "command" });
  expect(box.className).toBe("exact");
  expect(box.innerHTML).toMatch(
    /^<pre class="exact-text" dir="ltr"><span>a<mark .*<\/mark>b<\/span><span class="exact-sign exact-tab">\t<\/span><span>c<\/span><\/pre>$/,
  );
  // Characters that look like ASCII are marked only here.
  expect(box.querySelectorAll("mark")).toHaveLength(1);
});
