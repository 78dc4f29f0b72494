/**
 * Whether a key is an input method's, which spells a word with it. The Enter that ends a word Safari tells of after the
 * spelling: only its code, which other browsers give every such key, says whose it is.
 */
export const composing = ({ isComposing, keyCode }: KeyboardEvent): boolean => isComposing || keyCode === 229;
