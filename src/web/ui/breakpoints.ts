/**
 * The widths at which the page changes its layout, as media queries. The sheets name them (`@media (--narrow)`), and `vite.config.ts` puts
 * the query there. A component with limits of its own asks for its own width instead (`@container`).
 */
export const BREAKPOINTS = {
  /** Phones. */
  phone: "(max-width: 640px)",
  /** Without room for a side, and with two lines per row of the list. */
  narrow: "(max-width: 900px)",
  /** Without room for two panes. */
  medium: "(max-width: 1100px)",
} as const;

/** Low windows, named in the same way: at 200 % zoom, at 400 %, and at 400 % with a keyboard or bars in the way. */
export const LOW_WINDOWS = {
  low: "(max-height: 560px)",
  lower: "(max-height: 400px)",
  lowest: "(max-height: 300px)",
} as const;

/** With room for the inspector beside the transcript. No sheet needs it. */
export const WIDE = "(min-width: 1680px)";
