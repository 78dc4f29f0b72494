import { asArray, asObject, asString, type JsonObject } from "../narrow.ts";

/**
 * Maximum length of a string without spaces that is shown, in characters. Longer ones are encoded bytes, such as base64 images.
 */
const MAX_WORD = 2_000;

/** The text of a message, a system prompt or a tool definition, for display. */
export function messageText(message: unknown): string {
  const content = asObject(message)?.content ?? message;
  return blocksOf(content).map(blockText).filter(Boolean).join("\n\n");
}

/** The kinds of a message's blocks without repetition: `text`, `tool_use Bash`. */
export function blockKinds(message: unknown): string[] {
  const kinds = blocksOf(asObject(message)?.content ?? message).map((value) => {
    const block = asObject(value);
    const type = asString(block?.type) ?? "text";
    const name = asString(block?.name) ?? asString(block?.tool_name);
    return name === undefined ? type : `${type} ${name}`;
  });
  return [...new Set(kinds)];
}

/** Whether a block of the message ends a cached prefix (Anthropic's `cache_control`). */
export function endsCache(message: unknown): boolean {
  const blocks = blocksOf(asObject(message)?.content ?? message);
  return [message, ...blocks].some((block) => asObject(block)?.cache_control !== undefined);
}

const blocksOf = (content: unknown): readonly unknown[] =>
  Array.isArray(content) ? asArray(content) : [content];

function blockText(value: unknown): string {
  if (typeof value === "string") return value;
  const block = asObject(value);
  if (block === undefined) return value === undefined ? "" : JSON.stringify(value);
  switch (block.type) {
    case "text":
      return asString(block.text) ?? "";
    case "thinking":
      return asString(block.thinking) ?? "";
    case "prompt":
      return asArray(block.parts).map(blockText).join("\n\n");
    case "tool_result":
      return asString(block.output_text) ?? messageText(block);
    case "tool_call":
      return `${asString(block.tool_name) ?? ""}\n${asString(block.arguments_json) ?? ""}`;
    case "tool_use":
      return `${asString(block.name) ?? ""}\n${readable(asObject(block.input) ?? {})}`;
    default:
      return readable(block);
  }
}

const readable = (value: JsonObject): string =>
  JSON.stringify(
    value,
    (_, member: unknown) =>
      typeof member === "string" && member.length > MAX_WORD && !/\s/.test(member)
        ? `(${member.length} characters)`
        : member,
    2,
  );
