import * as z from "zod";
import { optional, record } from "../model/record.ts";
import { textCode } from "../model/text/coded-text.ts";

/** An agent whose session files are read, and the response to `POST /api/sources/:agent`. */
export const agentSource = record({
  agent: z.string(),
  name: z.string(),
  /** An agent that the user switched off is neither listed, followed, indexed nor searched. */
  is_on: z.boolean(),
  /** The folders that are searched for its sessions. */
  folders: z.array(record({ path: z.string(), exists: z.boolean() })),
  /** Number of known sessions, without the runs of sub-agents and sessions in whose place another one is listed. */
  sessions: z.number(),
  /** When its folders were last scanned and read. Absent: not since the daemon started. */
  read_at: optional(z.number()),
  /** Folders and files that cannot be read. */
  problems: z.array(
    record({
      path: z.string(),
      text: z.string(),
      text_code: optional(textCode),
      remedy: optional(z.string()),
      remedy_code: optional(textCode),
    }),
  ),
});
export type AgentSource = z.infer<typeof agentSource>;

/** `GET /api/sources` */
export const sourcesReply = record({ agents: z.array(agentSource) });
export type SourcesReply = z.infer<typeof sourcesReply>;

/** `POST /api/sources/:agent`: the agent as it is now. */
export const sourceBody = record({ is_on: z.boolean() });
