/**
 * The widths at which the page changes its layout, as media queries. Style sheets refer to them by name (`@media (--narrow)`),
 * and `vite.config.ts` substitutes the queries. A component with its own limits uses a container query (`@container`) instead.
 */
export const BREAKPOINTS = {
  /** Phones. */
  phone: "(max-width: 640px)",
  /** No room for a side panel, and two lines per row of the session list. */
  narrow: "(max-width: 900px)",
  /** No room for two panes. */
  medium: "(max-width: 1100px)",
} as const;

/** Low windows, named in the same way: at 200 % zoom, at 400 %, and at 400 % with an on-screen keyboard or toolbars. */
export const LOW_WINDOWS = {
  low: "(max-height: 560px)",
  lower: "(max-height: 400px)",
  lowest: "(max-height: 300px)",
} as const;

/** Room for the inspector beside the transcript. Not used in style sheets. */
export const WIDE = "(min-width: 1680px)";
