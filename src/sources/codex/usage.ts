import type { Usage } from "../../model/messages/message.ts";
import { asNumber, type JsonObject } from "../../model/narrow.ts";

/** Converts Codex's token counts, whose `input_tokens` include cache reads and writes. */
export function readUsage(tokens: JsonObject | undefined): Usage | undefined {
  if (tokens === undefined) return undefined;
  const input = asNumber(tokens.input_tokens);
  const output = asNumber(tokens.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  const read = asNumber(tokens.cached_input_tokens) ?? 0;
  const write = asNumber(tokens.cache_write_input_tokens) ?? 0;
  const reasoning = asNumber(tokens.reasoning_output_tokens) ?? 0;
  return {
    input: Math.max(0, input - read - write),
    output,
    ...(read > 0 ? { cache_read: read } : {}),
    ...(write > 0 ? { cache_write: write } : {}),
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}
