import type { Part } from "../../model/messages/part.ts";
import { asString } from "../../model/narrow.ts";
import { blocksIn, promptParts } from "../conversation/content.ts";
import { queryIn } from "../conversation/wrappers.ts";

/** Tags that Cursor puts around a person's text. */
const INJECTED = [
  "user_info",
  "git_status",
  "project_layout",
  "rules",
  "agent_skills",
  "agent_transcripts",
  "manually_attached_skills",
  "mcp_file_system",
  "mcp_instructions",
  "mcp_meta_tools",
  "open_and_recently_viewed_files",
  "attached_files",
  "image_files",
  "additional_data",
  "system_reminder",
  "timestamp",
] as const;

/** Starts of prompts that Cursor writes when a sub-agent in the background has ended. */
const FOLLOW_UPS = [
  "Briefly inform the user about the task result",
  "The beginning of the above subagent result is already visible to the user",
] as const;

/** Splits the blocks of a message of role `user` into the person's text and Cursor's additions. */
export function promptOf(blocks: unknown): { parts: Part[]; injected: string[]; isFollowUp: boolean } {
  const injected: string[] = [];
  let isFollowUp = false;
  const parts = promptParts(blocks, (text) => {
    const query = queryIn(text, INJECTED);
    injected.push(...query.injected);
    isFollowUp ||= FOLLOW_UPS.some((start) => query.own.startsWith(start));
    return query.own;
  });
  return { parts, injected, isFollowUp };
}

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
/** `Sunday, Sep 20, 2026, 12:31 AM (UTC+3)`. */
const WRITTEN =
  /<timestamp>\s*(?:[A-Z][a-z]+, )?([A-Z][a-z]{2}) (\d{1,2}), (\d{4}), (\d{1,2}):(\d\d)\s([AP])M \(UTC(?:([+-])(\d{1,2})(?::(\d\d))?)?\)\s*<\/timestamp>/;
/** Maximum length of what precedes the time in a prompt. */
const MAX_LEAD = 2_000;

/** The time in a prompt's text, in milliseconds: transcripts have no other times. */
export function timeIn(content: unknown): number | undefined {
  for (const { text } of blocksIn(content)) {
    const start = (asString(text) ?? "").slice(0, MAX_LEAD);
    const [found, month = "", day, year, hour, minute, half, sign, hours, minutes] =
      WRITTEN.exec(start) ?? [];
    const index = MONTHS.indexOf(month);
    if (found === undefined || index % 3 !== 0) continue;
    const hourOfDay = (Number(hour) % 12) + (half === "P" ? 12 : 0);
    const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === "-" ? -1 : 1);
    return Date.UTC(Number(year), index / 3, Number(day), hourOfDay, Number(minute) - offset);
  }
  return undefined;
}
