import type { Part } from "../messages/part.ts";
import type { TranscriptPart } from "../transcript/transcript.ts";

const TITLE_LIMIT = 200;

const REMINDER = "<system-reminder>";
const REMINDER_END = "</system-reminder>";

/** The text parts of a stored message joined by blank lines: for search and for old clients, never as input. */
export function textOf(parts: readonly Part[]): string {
  const texts: string[] = [];
  for (const part of parts) if (part.type === "text") texts.push(part.text);
  return texts.join("\n\n");
}

/** The first non-blank line of a text, at most 200 characters; `undefined`: there is none. */
export function titleOf(text: string): string | undefined {
  // Only the beginning is searched: a prompt may contain megabytes of pasted logs.
  const line = text
    .slice(0, 20_000)
    .split("\n")
    .map((candidate) => candidate.trim())
    .find((candidate) => candidate !== "");
  if (line === undefined) return undefined;
  // A character has one or two code units. One more than the limit is kept to detect longer lines.
  const characters = Array.from(line.slice(0, (TITLE_LIMIT + 1) * 2));
  return characters.length <= TITLE_LIMIT ? line : `${characters.slice(0, TITLE_LIMIT - 1).join("")}…`;
}

/** The beginning of a text that is longer than `limit` UTF-16 code units, ending in "…". Does not split a surrogate pair. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 2);
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 2 : limit - 1)}…`;
}

/** A prompt without the reminders that the agent put before what the person wrote. For titles only. */
export function withoutReminders(text: string): string {
  let rest = text.trimStart();
  while (rest.startsWith(REMINDER)) {
    const end = rest.indexOf(REMINDER_END);
    if (end === -1) return rest;
    rest = rest.slice(end + REMINDER_END.length).trimStart();
  }
  return rest;
}

/** The title of a turn: the first line of its prompt, or its attachments if there is no text. */
export function promptTitle(parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  for (const text of [...texts.map(withoutReminders), ...texts]) {
    const title = titleOf(text);
    if (title !== undefined) return title;
  }
  for (const part of parts) {
    if (part.type === "image_url" || part.type === "image_file") return "[image]";
    if (part.type === "file") return titleOf(`[${part.filename ?? part.mime}]`);
  }
  return undefined;
}

/** The beginning of a whole prompt on one line, at most 200 characters, or its attachments if there is no text. */
export function promptLine(parts: readonly Part[]): string | undefined {
  return (
    titleOf(
      textOf(parts)
        .slice(0, 20 * TITLE_LIMIT)
        .replace(/\s+/g, " "),
    ) ?? promptTitle(parts)
  );
}

/** The `content` of a message as clients without parts expect it: all text parts, concatenated unchanged. */
export function contentOf(parts: readonly (TranscriptPart | undefined)[]): string {
  let content = "";
  for (const part of parts) if (part?.type === "text") content += part.text;
  return content;
}
