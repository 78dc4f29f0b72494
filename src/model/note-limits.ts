/** Maximum length of a note, in UTF-16 code units. */
export const MAX_NOTE_TEXT = 10_000;
/** Maximum number of notes per session. */
export const MAX_NOTES = 1_000;
/** Maximum length of `NotedPart.excerpt`, in UTF-16 code units. */
export const MAX_EXCERPT = 200;
