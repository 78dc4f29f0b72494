import type { Usage } from "../../model/messages/message.ts";
import { asNumber, asObject } from "../../model/narrow.ts";

/**
 * Token counts of an agent, from the reply to a prompt or (Qwen Code) after each model call; `undefined`: there are none.
 * Verbatim does not count cached tokens as input. Whether the agent does is inferred from its total.
 */
export function usageOf(value: unknown): Usage | undefined {
  const reported = asObject(value);
  const all = asNumber(reported?.inputTokens) ?? asNumber(reported?.input_tokens);
  const output_tokens = asNumber(reported?.outputTokens) ?? asNumber(reported?.output_tokens);
  if (all === undefined || output_tokens === undefined) return undefined;
  const read = asNumber(reported?.cachedReadTokens) ?? 0;
  const write = asNumber(reported?.cachedWriteTokens) ?? 0;
  const reasoning = asNumber(reported?.thoughtTokens) ?? 0;
  const total = asNumber(reported?.totalTokens);
  const isInside = read + write > 0 && total !== undefined && total <= all + output_tokens + reasoning;
  const isBeside = total !== undefined && reasoning > 0 && total >= all + output_tokens + reasoning;
  return {
    input: isInside ? Math.max(0, all - read - write) : all,
    output: isBeside ? output_tokens + reasoning : output_tokens,
    ...(read > 0 ? { cache_read: read } : {}),
    ...(write > 0 ? { cache_write: write } : {}),
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

/** The usage in the reply to a prompt. Gemini CLI puts it into `_meta`. */
export function usageOfAnswer(answer: unknown): Usage | undefined {
  const reported = asObject(answer);
  return (
    usageOf(reported?.usage) ?? usageOf(asObject(asObject(asObject(reported?._meta)?.quota)?.token_count))
  );
}
