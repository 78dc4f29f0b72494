import { readFileSync } from "node:fs";
import { fireEvent, render } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it } from "vitest";
import { findHidden } from "../../../src/hidden-text/hidden-text.ts";
import type { SessionSummary } from "../../../src/model/session.ts";
import type { TranscriptPart } from "../../../src/model/transcript/transcript.ts";
import { Terminal } from "../../../src/web/code/Output.tsx";
import { Markdown } from "../../../src/web/markdown/Markdown.tsx";
import { SessionRow } from "../../../src/web/screens/sessions/SessionRow.tsx";
import { TurnTranscript } from "../../../src/web/transcript/TurnTranscript.tsx";
import { SafeLink } from "../../../src/web/ui/SafeLink.tsx";
import { judgeUrl } from "../../../src/web/ui/safe-url.ts";
import { generate } from "../../browser/hostile/payloads.ts";
import { call, hostOf, idOf, marker, paired, result, START, text, thinking, turnOf } from "../../build.ts";
import { eventually } from "../../eventually.ts";
import { sharedData } from "../../shared-data.ts";

interface Payload {
  id: string;
  input: unknown;
  expect: Record<string, unknown>;
}

function payloads(name: string): Payload[] {
  const path = sharedData("payloads", `${name}.json`);
  return path === undefined ? [] : JSON.parse(readFileSync(path, "utf8"));
}

/** Everything that could run, load or navigate by itself. */
function dangers(root: Element): string[] {
  const found: string[] = [];
  for (const element of root.querySelectorAll("*")) {
    const name = element.tagName.toLowerCase();
    if (
      /^(script|iframe|object|embed|link|meta|base|style|form|video|audio|source|track|svg|math|frame|portal)$/.test(
        name,
      )
    )
      found.push(name);
    for (const attribute of element.attributes) {
      if (/^on/i.test(attribute.name)) found.push(`${name} ${attribute.name}`);
      if (
        /^(src|srcset|background|poster|data|action|formaction|xlink:href|ping)$/i.test(attribute.name) &&
        !attribute.value.startsWith("blob:")
      )
        found.push(`${name} ${attribute.name}=${attribute.value}`);
      if (attribute.name === "href" && !/^(https?:|mailto:|#|\/sessions\/)/i.test(attribute.value))
        found.push(`${name} href=${attribute.value}`);
      if (
        attribute.name === "href" &&
        /^https?:/i.test(attribute.value) &&
        element.getAttribute("rel") !== "noopener noreferrer"
      )
        found.push("no rel");
      if (attribute.name === "style" && /url\(/i.test(attribute.value)) found.push(attribute.value);
    }
  }
  return found;
}

function clickAll(root: Element): void {
  for (const element of root.querySelectorAll("button, summary")) fireEvent.click(element);
}

const markdownOf = (input: unknown): string[] => {
  if (typeof input === "string") return [input];
  if (typeof input !== "object" || input === null) return [];
  if ("markdown" in input) return [String(input.markdown)];
  if ("chunks" in input && Array.isArray(input.chunks))
    return input.chunks.map((_chunk, index, all) => all.slice(0, index + 1).join(""));
  return [];
};

function inEveryPlace(value: string): TranscriptPart[] {
  const bash = call("Bash", { command: value, description: value });
  const tool = call(value, { [value]: value });
  const edit = call("Edit", { file_path: value, old_string: value, new_string: `${value}x` });
  return paired([
    thinking(value),
    text(value),
    bash,
    result(bash, value, { ui_extra: { type: "shell", command: value, cwd: value } }),
    tool,
    result(tool, value, {
      parts: [
        { type: "image_url", url: value },
        { type: "file", mime: "text/html", url: value, filename: value },
      ],
    }),
    edit,
    result(edit, value),
    marker("error", value, { text: value, data: { html: value, __html: value } }),
  ]);
}

const shared = describe.skipIf(!sharedData());

shared("hostile Markdown (skipped without the shared payloads)", () => {
  for (const name of ["xss-markdown", "exfil-markdown"]) {
    it(`of ${name} never becomes markup, loads nothing, and links to nothing unsafe`, () => {
      for (const { id, input } of payloads(name)) {
        const texts = markdownOf(input);
        let view: ReturnType<typeof render> | undefined;
        for (const [index, value] of texts.entries()) {
          const node: ReactNode = <Markdown text={value} open={index < texts.length - 1} />;
          if (view) view.rerender(node);
          else view = render(node);
          expect(dangers(view.container), id).toEqual([]);
          clickAll(view.container);
          expect(dangers(view.container), id).toEqual([]);
        }
        view?.unmount();
      }
    });
  }

  it("is equally harmless in every field of a transcript", () => {
    const values = payloads("xss-markdown").flatMap(({ input }) => {
      if (typeof input === "string") return [input];
      if (typeof input === "object" && input !== null && "value" in input)
        return [typeof input.value === "string" ? input.value : JSON.stringify(input.value)];
      return [];
    });
    expect(values.length).toBeGreaterThan(50);
    for (const value of values.filter((_value, index) => index % 4 === 0)) {
      const parts = inEveryPlace(value);
      const host = hostOf();
      for (const part of parts) host.opened.set(part.id, true);
      const { container, unmount } = render(
        <TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={host} />,
      );
      const unsafe = dangers(container).filter((danger) => !danger.startsWith("a href=#part-"));
      expect(unsafe, value).toEqual([]);
      unmount();
    }
  }, 60_000);
});

describe("hidden text", () => {
  /** Every text and attribute that contains it unmarked. */
  const unmarked = (root: Element): string[] => {
    const hidden = /[\u200b\u202e]/;
    const found = hidden.test(root.textContent ?? "") ? [root.textContent ?? ""] : [];
    for (const element of root.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        if (name !== "id" && hidden.test(value)) found.push(`${element.tagName} ${name}=${value}`);
      }
    }
    return found;
  };

  it("is marked in every text and every attribute of a transcript", () => {
    const value = "a\u202eb\u200bc";
    const run = call("Task", { description: value }, { run: { session_id: idOf("run"), name: value } });
    const edit = call("Edit", { file_path: value });
    const parts = [
      ...inEveryPlace(value),
      ...paired([
        run,
        edit,
        result(edit, value, {
          ui_extra: {
            type: "diff",
            files: [
              {
                path: value,
                new_path: value,
                change: "update",
                additions: 1,
                deletions: 0,
                hunks: [{ old_start: 1, old_lines: 0, new_start: 1, new_lines: 1, lines: [`+${value}`] }],
              },
            ],
          },
          parts: [
            { type: "image_file", file_path: value, mime_type: value },
            { type: "file", mime: value, url: "attachment:part:0", filename: value },
          ],
        }),
      ]),
    ];
    const host = hostOf();
    for (const part of parts) host.opened.set(part.id, true);
    const { container } = render(
      <TurnTranscript turn={turnOf(parts)} partAt={(index) => parts[index]} host={host} />,
    );
    expect(container.querySelectorAll("mark").length).toBeGreaterThan(30);
    expect(container.querySelector(".file-diff .diff-text")?.getAttribute("aria-label")).toContain("U+202E");
    expect(container.querySelector(".run-link")?.getAttribute("aria-label")).toContain("U+202E");
    expect(unmarked(container)).toEqual([]);
  });

  it("is marked in a row of the list, including its attributes", () => {
    const value = "a\u202eb\u200bc";
    const row: SessionSummary = {
      id: idOf("session"),
      agent: "claude-code",
      agent_version: value,
      model: value,
      cwd: value,
      title: value,
      first_prompt: value,
      status: "completed",
      last_activity_at: START,
      turns: 1,
      steps: 1,
      tool_calls: 0,
      errors: 0,
      parts: 1,
      runs: 1,
      byte_size: 1,
    };
    const item = { type: "session" as const, row, depth: 0, runs: 1, expanded: false, unlinked: false };
    const { container } = render(
      <SessionRow item={item} now={START} showFolder={true} onToggle={() => {}} />,
    );
    expect(container.querySelector(".session-agent")?.getAttribute("title")).toBe(
      "Version a⟨U+202E⟩b⟨U+200B⟩c",
    );
    expect(unmarked(container)).toEqual([]);
  });
});

shared("hostile addresses (skipped without the shared payloads)", () => {
  it("are classified as listed", () => {
    for (const { id, input, expect: wanted } of payloads("hostile-urls")) {
      const address = String(input);
      const verdict = judgeUrl(address);
      if (wanted.link === "block") expect(verdict.kind, id).toBe("text");
      if (wanted.link === "allow") expect(["link", "fragment"], id).toContain(verdict.kind);
      if (wanted.link === "confirm") {
        if (wanted.shownHost === null) expect(verdict.kind, id).toBe("text");
        else {
          expect(verdict.kind, id).toBe("confirm");
          expect("host" in verdict ? verdict.host : "", id).toBe(wanted.shownHost);
        }
      }
      if (Array.isArray(wanted.autolink)) {
        const { container, unmount } = render(<Markdown text={address} />);
        expect(
          [...container.querySelectorAll("a")].map((link) => link.getAttribute("href")),
          id,
        ).toEqual(wanted.autolink);
        unmount();
      }
    }
  });

  it("are shown with their host, whatever the link's text says", () => {
    const { container } = render(
      <SafeLink href="https://evil.example/p" text="https://github.com/org/repo">
        https://github.com/org/repo
      </SafeLink>,
    );
    expect(container.querySelector("a")).toBeNull();
    expect(container.textContent).toContain("evil.example");
    fireEvent.click(container.querySelector("button") as HTMLElement);
    expect(container.querySelector("a")?.getAttribute("href")).toBe("https://evil.example/p");
  });
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: control bytes must not reach the page.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

shared("hostile terminal output (skipped without the shared payloads)", () => {
  it("leaves no control byte, no unsafe link and no lost text", () => {
    for (const { id, input, expect: wanted } of payloads("ansi-osc")) {
      const texts = markdownOf(input);
      let view: ReturnType<typeof render> | undefined;
      for (const value of texts) {
        const node = <Terminal text={value} />;
        if (view) view.rerender(node);
        else view = render(node);
        expect(CONTROL.test(view.container.textContent ?? ""), id).toBe(false);
        expect(dangers(view.container), id).toEqual([]);
      }
      if (!view) continue;
      const { container } = view;
      const link = container.querySelector("a");
      const copy = container.cloneNode(true) as Element;
      for (const extra of copy.querySelectorAll(".link-host, .link-target")) extra.remove();
      if (typeof wanted.text === "string") expect(copy.textContent, id).toBe(wanted.text);
      if (typeof wanted.mustContain === "string")
        expect(container.textContent, id).toContain(wanted.mustContain);
      if (wanted.link === null) expect(link, id).toBeNull();
      if (wanted.recoverable === true) {
        clickAll(container);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences are not text.
        const readable = String(input).replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, " ");
        for (const word of readable.match(/[a-z]{5,}/g) ?? [])
          expect(container.textContent, id).toContain(word);
      }
      view.unmount();
    }
  });
});

shared("hostile Unicode (skipped without the shared payloads)", () => {
  it("is marked, but legitimate text is not", () => {
    for (const { id, input, expect: wanted } of payloads("unicode")) {
      const value = String(input);
      const { container, unmount } = render(<Markdown text={value} />);
      const marks = container.querySelectorAll("mark.hidden-text");
      const isName = String(wanted.where ?? "").includes("host names");
      if (wanted.flag === true && !isName) expect(marks.length, id).toBeGreaterThan(0);
      if (wanted.flag === false) expect(marks.length, id).toBe(0);
      if (isName && !/whole-script/.test(id) && /[a-z]/.test(value)) {
        const pieces = findHidden(value, "name");
        const verdict = judgeUrl(`https://${value}/`);
        expect(pieces.length > 1 || (verdict.kind === "confirm" && verdict.host.includes("xn--")), id).toBe(
          true,
        );
      }
      unmount();
    }
  });
});

shared("pathological Markdown (skipped without the shared payloads)", () => {
  it("is shown completely or as plain text, within the page's limits", () => {
    for (const { id, input } of payloads("pathological-markdown")) {
      const value = generate(input);
      const { container, unmount } = render(<Markdown text={value} />);
      expect(container.querySelectorAll("*").length, id).toBeLessThan(20_000);
      expect((container.textContent ?? "").length, id).toBeGreaterThan(0);
      unmount();
    }
  }, 120_000);
});

describe("text with too many elements for a page", () => {
  it.each([
    { name: "a table of 100,000 cells", value: generate({ gen: "table", rows: 5_000, cols: 20, cell: "c" }) },
    { name: "50,000 paragraphs", value: "p\n\n".repeat(50_000) },
    { name: "20,000 headings", value: "# h\n".repeat(20_000) },
    { name: "a list of 50,000 items", value: "- i\n".repeat(50_000) },
  ])("is plain text from some point on, and completely reachable: $name", async ({ value }) => {
    const { container } = render(<Markdown text={value} />);
    expect(container.querySelectorAll("*").length).toBeLessThan(6_000);
    fireEvent.click(container.querySelector("button.show-all") as HTMLElement);
    await eventually(() => {
      expect((container.textContent?.match(/[cphi]/g) ?? []).length).toBeGreaterThanOrEqual(20_000);
      expect(container.querySelectorAll("*").length).toBeGreaterThan(6_000);
    });
    expect(container.querySelectorAll("*").length).toBeLessThan(20_000);
    expect(container.textContent).toContain("the text before it is too long");
  });
});

describe("text with very many hidden characters", () => {
  it.each([
    { name: "one character many times", value: "\u200b".repeat(60_000), most: 20 },
    { name: "two characters alternating", value: "\u200b\u200c".repeat(30_000), most: 2_500 },
    { name: "one in each word", value: "a\u200b ".repeat(20_000), most: 2_500 },
    { name: "two in each paragraph", value: "a\u200bb\u200b\n\n".repeat(9_000), most: 15_000 },
    { name: "code", value: `\`\`\`js\n${`${"a\u200b".repeat(60)}\n`.repeat(500)}\`\`\``, most: 5_000 },
  ])("has few marks, each with its meaning: $name", ({ value, most }) => {
    const { container } = render(<Markdown text={value} />);
    expect(container.querySelectorAll("*").length).toBeLessThan(most);
    let count = 0;
    for (const mark of container.querySelectorAll("mark")) {
      for (const [, times = "1"] of (mark.textContent ?? "").matchAll(/U\+200[BC](?: × ([\d,]+))?/g))
        count += Number(times.replaceAll(",", ""));
    }
    if (container.querySelector(".show-all") === null)
      expect(count).toBe(value.split(/[\u200b\u200c]/).length - 1);
    expect(container.textContent).not.toMatch(/[\u200b\u200c]/);
  });
});

it("a link to an IPv6 address is a link", () => {
  const { container } = render(<Markdown text="[words](https://[2001:db8::1]/x)" />);
  expect(container.querySelector("a")?.getAttribute("href")).toBe("https://[2001:db8::1]/x");
});
