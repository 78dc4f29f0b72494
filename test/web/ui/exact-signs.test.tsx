import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { ExactText } from "../../../src/web/ui/ExactText.tsx";

/** What stands in the box: each sign as its name in brackets. */
function signs(text: string): string {
  const { container, unmount } = render(<ExactText text={text} label="command" />);
  for (const sign of container.querySelectorAll(".exact-sign")) {
    sign.textContent = `[${sign.className.replace("exact-sign exact-", "")} ${JSON.stringify(sign.textContent)}]`;
  }
  const shown = container.querySelector("pre")?.textContent ?? "";
  unmount();
  return shown;
}

it("shows line ends but the last, tabs, and spaces at line ends by signs that hold them", () => {
  expect(signs("a")).toBe("a");
  expect(signs("a\nb\n")).toBe('a[newline "\\n"]b[newline "\\n"]');
  expect(signs("\ta\tb c")).toBe('[tab "\\t"]a[tab "\\t"]b c');
  expect(signs("a \t\nb  ")).toBe('a[space " "][tab "\\t"][newline "\\n"]b[space " "][space " "]');
  expect(signs(" a b")).toBe(" a b");
  expect(signs("")).toBe("");
});

it("stands in a box with a name, from left to right, each word marked by itself", () => {
  render(<ExactText text={"a\u202eb\tc"} label="command" />);
  const box = screen.getByRole("group", { name: "command" });
  expect(box.className).toBe("exact");
  expect(box.innerHTML).toMatch(
    /^<pre class="exact-text" dir="ltr"><span>a<mark .*<\/mark>b<\/span><span><span class="exact-sign exact-tab">\t<\/span>c<\/span><\/pre>$/,
  );
  // What looks like ASCII is marked, as nowhere else.
  expect(box.querySelectorAll("mark")).toHaveLength(1);
});
