import { inspect } from "./en/inspect.ts";
import { addText } from "./text.ts";

// Imported for this: the words of a session's inspector, timeline and dialogs.
addText(inspect);
