import type { Usage } from "../../model/message.ts";
import { asNumber, asObject } from "../../model/narrow.ts";

/**
 * Tokens as an agent tells them, with a prompt's answer or (Qwen Code) after each model call. Ours do not count cached
 * tokens as input; whether the agent's do is told by its total. `undefined`: it tells none.
 */
export function usageOf(value: unknown): Usage | undefined {
  const told = asObject(value);
  const all = asNumber(told?.inputTokens) ?? asNumber(told?.input_tokens);
  const said = asNumber(told?.outputTokens) ?? asNumber(told?.output_tokens);
  if (all === undefined || said === undefined) return undefined;
  const read = asNumber(told?.cachedReadTokens) ?? 0;
  const write = asNumber(told?.cachedWriteTokens) ?? 0;
  const reasoning = asNumber(told?.thoughtTokens) ?? 0;
  const total = asNumber(told?.totalTokens);
  const isInside = read + write > 0 && total !== undefined && total <= all + said + reasoning;
  const isBeside = total !== undefined && reasoning > 0 && total >= all + said + reasoning;
  return {
    input: isInside ? Math.max(0, all - read - write) : all,
    output: isBeside ? said + reasoning : said,
    ...(read > 0 ? { cache_read: read } : {}),
    ...(write > 0 ? { cache_write: write } : {}),
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

/** Of a prompt's answer; Gemini CLI puts its figures into `_meta`. */
export function usageOfAnswer(answer: unknown): Usage | undefined {
  const told = asObject(answer);
  return usageOf(told?.usage) ?? usageOf(asObject(asObject(asObject(told?._meta)?.quota)?.token_count));
}
