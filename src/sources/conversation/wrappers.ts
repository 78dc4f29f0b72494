/** A person's text, and the blocks that an agent added to it. */
export interface Unwrapped {
  own: string;
  /** Complete blocks that the agent added before or after the text. */
  injected: string[];
}

/**
 * Removes complete `<tag>…</tag>` blocks with the given names from both ends of a text. Blocks inside the person's text remain:
 * a prompt may mention such tags.
 */
export function unwrap(text: string, tags: readonly string[]): Unwrapped {
  const whole = text.trim();
  // Most texts have no tag at either end, and need not be compared with all of them.
  if (!whole.startsWith("<") && !whole.endsWith(">")) return { own: text, injected: [] };
  const injected: string[] = [];
  let own = text;
  for (let found = true; found; ) {
    found = false;
    for (const tag of tags) {
      const trimmed = own.trim();
      const open = `<${tag}>`;
      const close = `</${tag}>`;
      if (trimmed.startsWith(open)) {
        const end = trimmed.indexOf(close);
        if (end === -1) continue;
        injected.push(trimmed.slice(0, end + close.length));
        own = trimmed.slice(end + close.length);
        found = true;
      } else if (trimmed.endsWith(close)) {
        const start = trimmed.lastIndexOf(open);
        if (start === -1) continue;
        injected.push(trimmed.slice(start));
        own = trimmed.slice(0, start);
        found = true;
      }
    }
  }
  return injected.length === 0 ? { own: text, injected } : { own: own.trim(), injected };
}

/** The text inside `<tag …>…</tag>` if the text consists of nothing else; otherwise the text. */
export function inside(text: string, tag: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith(`<${tag}`)) return text;
  const open = openingOf(tag).exec(trimmed)?.[0];
  const close = `</${tag}>`;
  if (open === undefined || !trimmed.endsWith(close)) return text;
  return trimmed.slice(open.length, -close.length).replace(/^\n|\n$/g, "");
}

/** Maximum number of spaces before an element. */
const MAX_INDENT = 40;

/**
 * The text in the first `<tag>` that begins a line or follows another tag, up to the last `</tag>`; `injected`: the texts around
 * it. `undefined`: there is no such element.
 */
export function elementIn(text: string, tag: string): Unwrapped | undefined {
  const open = `<${tag}>`;
  const close = `</${tag}>`;
  const end = text.lastIndexOf(close);
  if (end === -1) return undefined;
  for (let start = text.indexOf(open); start !== -1 && start < end; start = text.indexOf(open, start + 1)) {
    const lead =
      start <= MAX_INDENT ? `\n${text.slice(0, start)}` : text.slice(start - MAX_INDENT - 1, start);
    if (!/[\n>][ \t]*$/.test(lead)) continue;
    const own = text.slice(start + open.length, end).replace(/^\n|\n$/g, "");
    const around = [text.slice(0, start).trim(), text.slice(end + close.length).trim()];
    return { own, injected: around.filter((each) => each !== "") };
  }
  return undefined;
}

/** The text of an element in which an agent escaped characters that could be taken for tags. */
export const unescaped = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll(/&(?:apos|#39);/g, "'")
    .replaceAll("&amp;", "&");

/** The part of a message of role `user` that a person wrote, for agents that mark it by `<user_query>`. */
export function queryIn(text: string, tags: readonly string[]): Unwrapped {
  const { own, injected } = unwrap(text, tags);
  // Versions add further tags around the query, so it is found by its own one.
  const query = elementIn(own, "user_query");
  if (query !== undefined) return { own: query.own, injected: [...injected, ...query.injected] };
  // The message before the first prompt has no query: facts about the computer, and rules.
  if (!text.trimStart().startsWith("<user_info>")) return { own: inside(own, "user_query"), injected };
  return { own: "", injected: own.trim() === "" ? injected : [...injected, own] };
}

/** Compiled patterns of opening tags, by tag: compiling one takes longer than reading a record. */
const openings = new Map<string, RegExp>();

function openingOf(tag: string): RegExp {
  let opening = openings.get(tag);
  if (opening === undefined) {
    opening = new RegExp(`^<${tag}(?:\\s[^>\\n]*)?>`);
    openings.set(tag, opening);
  }
  return opening;
}
