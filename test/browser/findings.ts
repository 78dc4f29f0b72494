import axe from "axe-core";
import type { Page } from "playwright-core";

/** axe's findings of serious and critical impact, one line each. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Injected through the debugger, because the page's policy would refuse a script tag.
  await page.evaluate(axe.source);
  const findings = await page.evaluate(async () => {
    // Of all that axe can report, only violations and their HTML are used.
    const options = { resultTypes: ["violations" as const], selectors: false };
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(options);
    return violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html) }));
  });
  return findings
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).join(" ")}`);
}

/** How many pixels the document is wider than the window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
