/** What travels between the page and the worker that highlights. */

/** The kinds of token that the theme has a colour for; a packed token names one by its position, from 1. */
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

/** Longer lines stay plain: they are data, and cost the most. */
export const MAX_LINE = 1_000;
/** Lines of more tokens stay plain too. */
export const MAX_TOKENS = 150;

export type HighlightRequest =
  /** `first`: nothing of this session was highlighted before, or its state was lost. */
  | { type: "lines"; session: number; language: string; first: boolean; lines: string[] }
  | { type: "end"; session: number };

export type HighlightReply =
  /** This worker has the language's grammar from here on: the clock runs. Said once for each language. */
  | { type: "loaded"; session: number; language: string }
  /** For each line pairs of length (UTF-16 code units) and kind (0: plain). */
  | { type: "tokens"; session: number; tokens: number[][] }
  /** The grammar could not be loaded: the connection is gone. */
  | { type: "unloaded"; session: number }
  | { type: "failed"; session: number };
