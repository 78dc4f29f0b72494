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
