import { createObjectGraph } from "../object-graph.ts";
import { Blocks } from "./blocks.ts";
import { Branches } from "./branches.ts";
import { CallTable } from "./call-table.ts";
import { Copies } from "./copies.ts";
import {
  MAX_BACKGROUND,
  MAX_CALLS,
  MAX_LAUNCH_TEXTS,
  MAX_PROMPTS,
  MAX_QUEUED,
  MAX_QUEUED_TEXTS,
  MAX_START_PROMPTS,
  MAX_STARTS,
  MAX_TURNS,
} from "./memory.ts";
import { MessageStream } from "./message-stream.ts";
import { PromptQueue } from "./queue.ts";

/** Saves and restores a reader's state, with the limits of its lists (memory.ts). */
export const savedGraph = createObjectGraph(
  { Blocks, Branches, CallTable, Copies, MessageStream, PromptQueue },
  {
    turns: { items: MAX_TURNS },
    prompts: { items: MAX_PROMPTS },
    background: { items: MAX_BACKGROUND, characters: MAX_LAUNCH_TEXTS },
    starts: { items: MAX_STARTS, characters: MAX_START_PROMPTS },
    withInput: { items: MAX_CALLS },
    queued: { items: MAX_QUEUED, characters: MAX_QUEUED_TEXTS },
    waiting: { items: MAX_QUEUED, characters: MAX_QUEUED_TEXTS },
  },
);
