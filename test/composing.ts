/**
 * Keyboard events while an input method is composing: first during composition, then the Enter that ends it in Safari, which
 * comes after composition.
 */
export const COMPOSING = [{ isComposing: true }, { keyCode: 229 }] as const;
