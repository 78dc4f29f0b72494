import { recordLinesFormat } from "../lines/record-lines.ts";
import { aiderReader } from "./reader.ts";
import { aiderSnapshots } from "./stores.ts";

/** Aider: a Markdown file in each project. It is opened by name, because no list says which projects have one. */
export const aider = recordLinesFormat({
  id: "aider",
  name: "Aider",
  classify: () => undefined,
  detect: () => false,
  snapshots: aiderSnapshots,
  reader: aiderReader,
});
