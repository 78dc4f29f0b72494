import { expect, it } from "vitest";
import { findInexact } from "../src/hidden-text/exact-text.ts";
import { findHidden } from "../src/hidden-text/hidden-text.ts";
import { cut } from "../src/server/cli/terminal-text.ts";
import { readTerminal } from "../src/web/code/ansi.ts";
import { fenceOf, findRisk } from "../src/web/markdown/source.ts";
import { judgeUrl } from "../src/web/ui/safe-url.ts";

const LENGTH = 20_000;
/** Inputs that are slow for an expression with quadratic time. */
const UNITS = [
  " ",
  "\t",
  "\r",
  "\n",
  "a",
  "a.",
  "1",
  "=",
  "_",
  "*",
  "`",
  "<",
  "[",
  "/",
  ";",
  "\u001b[",
  "\u001b[1",
  "\u200b",
  "а",
  "\u0301\u0302",
];
const READERS: Record<string, (text: string) => unknown> = {
  "what is hidden in prose": (text) => findHidden(text, "prose"),
  "what is hidden in a name": (text) => findHidden(text, "name"),
  "what is not as it seems": findInexact,
  "an output in the terminal": cut,
  "colours of the terminal": readTerminal,
  "what Markdown costs": findRisk,
  "a fence": (text) => fenceOf("", `\`\`\`\nx${text}x`),
  "an address": (text) => judgeUrl(`https://example.com/${text}`),
  "an address without a path": (text) => judgeUrl(`https://${text}`),
};

/** Milliseconds of CPU, which other load on the machine does not affect. */
function cpuOf(read: (text: string) => unknown, unit: string, length: number): number {
  const text = `x${unit.repeat(length / unit.length)}x`;
  const before = process.cpuUsage();
  read(text);
  return process.cpuUsage(before).user / 1_000;
}

it.each(Object.entries(READERS))(
  "a text of four times the length takes less than quadratic time: %s",
  (_name, read) => {
    for (const unit of UNITS) {
      const once = cpuOf(read, unit, LENGTH);
      expect(cpuOf(read, unit, 4 * LENGTH), JSON.stringify(unit)).toBeLessThan(8 * once + 100);
    }
  },
);
