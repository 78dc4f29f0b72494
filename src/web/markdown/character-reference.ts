/** Only letters and digits reach the browser's parser, so its input can never contain an element. */
const NAME = /^[A-Za-z\d]+$/;
const decoded = new Map<string, string>();

/**
 * Decodes a named character reference of HTML. `name` excludes `&` and `;`. `false`: there is no such name. In the page, this
 * replaces the function of the package `decode-named-character-reference` (vite.config.ts), because the browser already has the
 * table of 2,125 names.
 */
export function decodeNamedCharacterReference(name: string): string | false {
  const known = decoded.get(name);
  if (known !== undefined) return known;
  if (!NAME.test(name)) return false;
  const reference = `&${name};`;
  const element = document.createElement("i");
  element.innerHTML = html(reference);
  const text = element.textContent;
  // Some old names need no semicolon in HTML: the browser parses `&notit;` as `¬it;`, but in Markdown it is not a reference.
  if (text === reference || (text.endsWith(";") && name !== "semi")) return false;
  decoded.set(name, text);
  return text;
}

let policy: { createHTML(text: string): string } | undefined;
/** The reference as TrustedHTML, which the page's policy requires. */
function html(reference: string): string {
  // TypeScript's library has no Trusted Types. Here a TrustedHTML is accepted in place of a string.
  const { trustedTypes } = globalThis as {
    trustedTypes?: { createPolicy(name: string, rules: object): { createHTML(text: string): string } };
  };
  policy ??= trustedTypes?.createPolicy("verbatim-character-reference", {
    createHTML: (text: string) => text,
  });
  return policy?.createHTML(reference) ?? reference;
}
