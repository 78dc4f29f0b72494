import { inspect } from "./en/inspect.ts";
import { addText } from "./text.ts";

// Import this module for its side effect: it adds the text of a session's inspector, timeline and dialogs.
addText(inspect);
