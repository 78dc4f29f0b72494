/** Messages between the page and the highlighting worker. */

/** Kinds of tokens that have a colour. A packed token refers to one by its one-based index. */
export const TOKEN_KINDS = [
  "keyword",
  "string",
  "number",
  "comment",
  "function",
  "type",
  "punctuation",
  "constant",
] as const;

/** Maximum length of highlighted lines. Longer lines are usually data and the most expensive ones. */
export const MAX_LINE = 1_000;
/** Maximum number of tokens of a highlighted line. */
export const MAX_TOKENS = 150;

export type HighlightRequest =
  /** `first`: the worker has no state of this session yet. */
  | { type: "lines"; session: number; language: string; first: boolean; lines: string[] }
  | { type: "end"; session: number };

export type HighlightReply =
  /** The worker has loaded the language's grammar, so the time limit applies from now on. Sent once per language. */
  | { type: "loaded"; session: number; language: string }
  /** Per line: pairs of length (UTF-16 code units) and kind (0: plain). */
  | { type: "tokens"; session: number; tokens: number[][] }
  /** The grammar could not be loaded because the connection was lost. */
  | { type: "unloaded"; session: number }
  | { type: "failed"; session: number };
