import "./content-text.ts";
import { session } from "./en/session.ts";
import { transcript } from "./en/transcript.ts";
import { addText } from "./text.ts";

// Imported for this: the words of a session's screen and of its transcript.
addText({ ...session, ...transcript });
