import { content } from "./en/content.ts";
import { addText } from "./text.ts";

// Import this module for its side effect: it adds the text around texts, code, outputs and images.
addText(content);
