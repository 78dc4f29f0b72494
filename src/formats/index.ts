import { claudeCode } from "./claude-code/format.ts";
import { codex } from "./codex/format.ts";
import type { Format } from "./format.ts";

/** Every agent whose session files are read. To add one, write its folder and name it here. */
export const formats: readonly Format[] = [claudeCode, codex];
