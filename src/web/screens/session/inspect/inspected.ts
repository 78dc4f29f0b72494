/** The tabs of the inspector, in order. */
export const INSPECT_VIEWS = [
  "changes",
  "errors",
  "context",
  "figures",
  "compare",
  "verify",
  "notes",
] as const;
export type InspectView = (typeof INSPECT_VIEWS)[number];

/** The state of the inspector. */
export interface Inspected {
  view: InspectView;
  /** The turn, counted from 1. `undefined`: all turns. */
  turn?: number | undefined;
  /** The model call, by its number (from 1) or by a part of its step. Absent: the first call. */
  which?: { call: number } | { part: string };
  /** The session to compare with. */
  other?: string;
}
