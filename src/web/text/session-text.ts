import "./content-text.ts";
import { session } from "./en/session.ts";
import { transcript } from "./en/transcript.ts";
import { addText } from "./text.ts";

// Import this module for its side effect: it adds the text of the session screen and of transcripts.
addText({ ...session, ...transcript });
