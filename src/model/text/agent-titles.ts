import { codedTexts } from "./catalog.ts";

/** The titles that Verbatim's own agent writes, and its drivers of other agents. */
export const agentTitles = {};

/** A title of `agentTitles` with its code. */
export const agentTitle = codedTexts(agentTitles);
