/**
 * Whether a key event belongs to an input method that is composing text. Safari sends the Enter that ends a composition only
 * after `compositionend`, so it can be recognized only by its key code: 229, which other browsers send for all keys during
 * composition.
 */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;
