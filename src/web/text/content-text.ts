import { content } from "./en/content.ts";
import { addText } from "./text.ts";

// Imported for this: the words around texts, code, outputs and images.
addText(content);
