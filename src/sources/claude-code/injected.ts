import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { promptParts } from "./content.ts";
import type { Line, Session } from "./session-types.ts";
import type { WrapperElement } from "./wrappers.ts";

/** Reads lines with `isMeta`, which the agent injected. */
export function readInjected(
  session: Session,
  line: Line,
  blocks: readonly JsonObject[],
  text: string,
  elements: readonly WrapperElement[] | undefined,
): Disposition {
  if (
    text.startsWith("Caveat: The messages below") ||
    elements?.every(({ tag }) => tag === "local-command-caveat") === true
  ) {
    session.localCommand = true;
    if (line.uuid !== undefined) session.caveats.set(line.uuid, true);
    return { kind: "hidden", rule: "caveat before a local command" };
  }
  if (elements?.every(({ tag }) => tag === "system-reminder") === true) {
    return { kind: "hidden", rule: "system reminder" };
  }
  if (text.trim() === "Continue from where you left off.") return { kind: "hidden", rule: "resume note" };
  const timer = timerOf(session, line, text);
  if (timer !== undefined) {
    session.prompt(line, promptParts(blocks), { origin: timer, opensTurn: true, typed: false });
    return { kind: "shown" };
  }
  if (asString(asObject(line.value.origin)?.kind) === "coordinator") {
    session.prompt(line, promptParts(blocks), { origin: "agent", opensTurn: false, typed: false });
    return { kind: "shown" };
  }
  const media = blocks.filter((block) => block.type !== "text");
  if (text.trim() !== "") {
    const command = session.command;
    session.command = undefined;
    if (text.startsWith(STOP_FEEDBACK)) {
      const message = text.slice(STOP_FEEDBACK.length).trim();
      if (addBlockedStop(session, line, message)) return { kind: "shown" };
      return { kind: "folded", into: "the message of the stop hook" };
    }
    if (line.value.ownNote === true) {
      session.marker(line, "note", claudeCodeTitle("program_note", { text: firstLine(text) }), text);
    } else if (asString(line.value.sourceToolUseID) !== undefined) {
      session.marker(
        line,
        "context",
        claudeCodeTitle("instructions_loaded", { text: firstLine(text) }),
        text,
      );
    } else if (command !== undefined) {
      session.marker(
        line,
        "context",
        claudeCodeTitle("command_expansion", { command: firstLine(command) }),
        text,
      );
    } else session.marker(line, "context", claudeCodeTitle("context_added", { text: firstLine(text) }), text);
  }
  for (const part of promptParts(media)) {
    const { part_id, message_id } = session.recordPart(line);
    if (part.type === "image_url") {
      session.push(line, { type: "message.image", part_id, message_id, url: part.url });
    } else if (part.type === "file") {
      session.push(line, {
        type: "message.file",
        part_id,
        mime: part.mime,
        url: part.url,
        ...(part.filename !== undefined && { filename: part.filename }),
      });
    } else session.push(line, { type: "unknown", part_id, raw: part });
  }
  return text.trim() === "" && media.length === 0
    ? { kind: "hidden", rule: "empty message" }
    : { kind: "shown" };
}

const STOP_FEEDBACK = "Stop hook feedback:";

/** Notes once that a stop hook kept the agent from stopping. Returns whether it created a part. */
export function addBlockedStop(session: Session, line: Line, message: string): boolean {
  // One of the lines has the hook's command before its message.
  if (
    session.blockedStop?.endsWith(message) === true ||
    (session.blockedStop !== undefined && message.endsWith(session.blockedStop))
  )
    return false;
  session.blockedStop = message;
  const title = claudeCodeTitle("stop_hook_continued", { message: firstLine(message) });
  session.marker(line, "hook", title, message);
  return true;
}

/** Fields of lines that the agent's program adds to a prompt or an answer. Such lines open no turn. */
const COMPANION_FIELDS = ["sourceToolUseID", "ownNote", "hookText", "turnCompanion"];

/**
 * Returns the author of an injected line that opens a turn: a line after a timer that fired, one that waited in the queue, or
 * one that names what opened its turn. `undefined`: it opens none.
 */
function timerOf(session: Session, line: Line, text: string): "schedule" | "program" | undefined {
  const { value } = line;
  if (
    text.trim() === "" ||
    COMPANION_FIELDS.some((name) => value[name] !== undefined && value[name] !== false)
  )
    return undefined;
  const began = asText(value.turnOrigin);
  if (session.fired !== undefined || (began !== undefined && /sched|cron|loop|wake|timer/i.test(began)))
    return "schedule";
  return began !== undefined || session.queue.waits(text, line.at) ? "program" : undefined;
}
