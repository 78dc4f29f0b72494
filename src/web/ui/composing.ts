/**
 * Whether a key event belongs to an input method that is composing text. Safari sends the Enter that ends a composition after its
 * end, so that only the key code (229, which other browsers send for all such keys) identifies it.
 */
export const composing = ({ isComposing, keyCode }: KeyboardEvent): boolean => isComposing || keyCode === 229;
