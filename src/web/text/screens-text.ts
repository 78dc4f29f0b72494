import { screens } from "./en/screens.ts";
import { addText } from "./text.ts";

// Import this module for its side effect: it adds the text of search, usage, the new-session form and the settings.
addText(screens);
