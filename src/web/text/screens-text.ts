import { screens } from "./en/screens.ts";
import { addText } from "./text.ts";

// Imported for this: the words of search, usage, the form of a new session and the settings.
addText(screens);
