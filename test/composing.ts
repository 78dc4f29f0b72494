/**
 * What an event of the keyboard says while an input method has the keys: first during the spelling of a word, then with the
 * Enter that ends one in Safari, which comes after the spelling.
 */
export const COMPOSING = [{ isComposing: true }, { keyCode: 229 }] as const;
