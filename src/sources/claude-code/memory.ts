/**
 * How much of a session is in a checkpoint of its reader. Later records may refer to earlier ones: they repeat, answer or retract
 * them, or branch off from them. Of each kind, a fixed number of the newest is saved; in memory many times as many are remembered
 * (`IN_MEMORY`, recent.ts). Older ones are evicted, and a record that refers to one of them is read as if it were new. The saved
 * state stays below `MAX_CHECKPOINT` (docs/decisions/0030-reader-checkpoints.md).
 */

/** Lines by uuid, to recognize copies of them and the prompt that they belong to. */
export const MAX_LINES = 1_536;
/** Lines whose parts can be retracted by uuid. */
export const MAX_WITHDRAWABLE = 96;
/** The newest parts of such a line. */
export const MAX_PARTS_OF_LINE = 32;
/** Model calls whose lines may be repeated or continued. */
export const MAX_STEPS = 48;
/** Texts and thoughts of one model call. */
export const MAX_BLOCKS = 64;
/** Characters of the texts of the newest model call, which a line may repeat in part. */
export const MAX_BLOCK_TEXT = 16 * 1024;
/** Earlier, shorter values of one text or thought. */
export const MAX_REVISIONS = 32;
/** Ids of model calls, so that no id names two of them. */
export const MAX_STEP_IDS = 1_536;
/** Tool calls by the agent's id. */
export const MAX_CALLS = 128;
/** Length of the arguments of calls of earlier turns that never got a result. */
export const MAX_LEFT_ARGUMENTS = 16 * 1024;
/** Calls of one answer under one id that wait for their results. */
export const MAX_CALLS_PER_ID = 64;
/** Results of calls that are not in the file. */
export const MAX_UNCLAIMED = 64;
/** Typed prompts from which later ones may branch off. */
export const MAX_PROMPTS = 192;
/** Turns that a rewind may abandon. */
export const MAX_TURNS = 192;
/** Texts of prompts and of other content of users, as fingerprints with their times. */
export const MAX_TEXTS = 192;
/** Times of one such text. */
export const MAX_TIMES = 8;
/** Runs in the background, and the length of the texts that reported their launch. */
export const MAX_BACKGROUND = 32;
export const MAX_LAUNCH_TEXTS = 32 * 1024;
/** Calls that start runs, whose result names the run, and the length of all their prompts together. */
export const MAX_STARTS = 96;
export const MAX_START_PROMPTS = 20 * 1024;
/**
 * Prompts in the agent's own queue, and the length of their texts. When more are waiting than fit in memory, they are shown as
 * not sent.
 */
export const MAX_QUEUED = 48;
export const MAX_QUEUED_TEXTS = 16 * 1024;
/** Small sets: caveats, notes that were written, titles of later lines, calls in a copied history. */
export const MAX_NAMES = 64;
