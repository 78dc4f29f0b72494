import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const css = readFileSync("src/web/app/theme.css", "utf8");
const colours = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }],
  ),
);

/** Relative luminance, as WCAG 2.2 defines it. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}
/** The colour of `ink` with an opacity on a surface: thinking is shown at 0.8. */
function blend(ink: string, surface: string, opacity: number): string {
  const channel = (at: number) =>
    Math.round(
      Number.parseInt(ink.slice(at, at + 2), 16) * opacity +
        Number.parseInt(surface.slice(at, at + 2), 16) * (1 - opacity),
    )
      .toString(16)
      .padStart(2, "0");
  return `#${channel(1)}${channel(3)}${channel(5)}`;
}

const surfaces = ["surface", "surface-raised", "surface-sunken"];
const codeInks = [
  "keyword",
  "string",
  "number",
  "comment",
  "function",
  "type",
  "punctuation",
  "constant",
].map((name) => `code-${name}`);
const inks = [
  "ink",
  "ink-muted",
  "ink-faint",
  "accent-link",
  "status-running",
  "status-ok",
  "status-failed",
  "diff-add",
  "diff-remove",
  ...codeInks,
];
const uses: [ink: string, surface: string][] = [
  ...inks.flatMap((ink) => surfaces.map((surface): [string, string] => [ink, surface])),
  ...["ink", "ink-muted", "diff-add"].map((ink): [string, string] => [ink, "diff-add-surface"]),
  ...["ink", "ink-muted", "diff-remove"].map((ink): [string, string] => [ink, "diff-remove-surface"]),
  ...["add", "remove"].flatMap((side) =>
    ["ink", ...codeInks].flatMap((ink): [string, string][] => [
      [ink, `diff-${side}-surface`],
      // Comments have the colour of text there.
      ...(ink === "code-comment" ? [] : [[ink, `diff-${side}-strong`] as [string, string]]),
    ]),
  ),
];

/** The inks of Markdown and code; inside a thought some are different. */
const inThinking = inks.filter((ink) => /^(?:ink|code)/.test(ink));
const [, thinking = ""] =
  /^ *\.thinking \{([^}]*)\}/m.exec(readFileSync("src/web/transcript/parts.css", "utf8")) ?? [];
const instead = new Map(
  [...thinking.matchAll(/--([\w-]+): var\(--([\w-]+)\);/g)].map(([, ink = "", other = ""]) => [ink, other]),
);

/** Matches: their ink on their ground. */
const [, found = ""] =
  /^ *::highlight\(find\) \{([^}]*)\}/m.exec(readFileSync("src/web/screens/session/find.css", "utf8")) ?? [];
const [, foundGround = ""] = /^ *background-color: var\(--([\w-]+)\);/m.exec(found) ?? [];
const [, foundInk] = /^ *color: var\(--([\w-]+)\);/m.exec(found) ?? [];

describe.each(["light", "dark"] as const)("the %s theme", (theme) => {
  const colour = (name: string): string => {
    const found = colours.get(name)?.[theme];
    if (found === undefined) throw new Error(`theme.css defines no colour --${name}`);
    return found;
  };

  test.each(uses)("%s is readable on %s", (ink, surface) => {
    expect(contrast(colour(ink), colour(surface))).toBeGreaterThanOrEqual(4.5);
  });
  test.each(surfaces.flatMap((surface) => inThinking.map((ink) => [ink, surface])))(
    "%s is readable on %s in muted thinking",
    (ink, surface) => {
      const blended = blend(colour(instead.get(ink) ?? ink), colour(surface), 0.8);
      expect(contrast(blended, colour(surface))).toBeGreaterThanOrEqual(4.5);
    },
  );
  test("matches are readable", () => {
    expect(contrast(colour(foundInk ?? ""), colour(foundGround))).toBeGreaterThanOrEqual(4.5);
  });
  test.each(surfaces)("the focus ring and the bounds of a field are visible on %s", (surface) => {
    expect(contrast(colour("focus"), colour(surface))).toBeGreaterThanOrEqual(3);
    expect(contrast(colour("line-field"), colour(surface))).toBeGreaterThanOrEqual(3);
  });
});

test.each([
  ["ui/field.css", ".filter"],
  ["ui/field.css", ".field-input"],
  ["composer/composer.css", ".prompt-input"],
  ["transcript/requests.css", ".answer-text"],
])("%s uses that border colour for %s", (file, field) => {
  const css = readFileSync(`src/web/${file}`, "utf8");
  const rule = css.slice(css.indexOf(`\n  ${field} {`)).split("}", 1)[0];
  expect(rule).toContain("border: 1px solid var(--line-field);");
});
