import type { FrameBodyOf } from "../../model/frames/frame-writer.ts";
import type { Part } from "../../model/messages/part.ts";
import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import type { Disposition } from "../contract.ts";
import { firstLine } from "../lines/first-line.ts";
import { agentMessages } from "./agent-messages.ts";
import { endBackground } from "./background.ts";
import { blocksOf, promptParts, textOf } from "./content.ts";
import { isDamaged, readDamaged } from "./damaged.ts";
import { firstOf } from "./first-of.ts";
import { framedTask } from "./frames.ts";
import { readInjected } from "./injected.ts";
import { pushUnknown } from "./session-parts.ts";
import type { Line, Session } from "./session-types.ts";
import { readResult } from "./tool-results.ts";
import { readMessages, readNotification, readWrapped } from "./wrapped.ts";
import { isNotification, parseWrappers, type WrapperElement } from "./wrappers.ts";

/**
 * Reads a `user` line: a prompt, tool results, or other content that the agent writes under the user's role. `isRun`: the
 * session is a sub-agent's, whose prompts were not typed by a person.
 */
export function readUser(session: Session, line: Line, isRun: boolean): Disposition {
  const message = asObject(line.value.message);
  const content = message?.content ?? undefined;
  if (message === undefined || asObject(content) !== undefined) {
    return pushUnknown(session, line, line.value, claudeCodeTitle("user_line_without_message"));
  }
  if (isDamaged(message)) return readDamaged(session, line);
  const blocks = blocksOf(content);
  const results = blocks.filter((block) => block.type === "tool_result");
  const rest = blocks.filter((block) => block.type !== "tool_result");
  let disposition: Disposition | undefined;
  for (const [index, result] of results.entries()) {
    disposition = firstOf(disposition, readResult(session, line, result, index, results.length));
  }
  if (session.isReplayed(line, rest)) {
    disposition = firstOf(disposition, { kind: "folded", into: "the same line before it" });
  } else if (rest.length > 0 || results.length === 0) {
    disposition = firstOf(disposition, readText(session, line, rest, isRun, results.length > 0));
  }
  return disposition ?? { kind: "hidden", rule: "empty message" };
}

const INTERRUPT = /^\[Request interrupted by user( for tool use)?\]$/;

/** Whether a line records that a person stopped the agent. */
export function isInterrupt(line: Line): boolean {
  return blocksOf(asObject(line.value.message)?.content).some(
    (block) => block.type === "text" && interruptOf(block) !== null,
  );
}

function interruptOf(block: JsonObject): RegExpExecArray | null {
  return INTERRUPT.exec((asString(block.text) ?? "").trim());
}

const SUMMARY = /^\s*This session is being continued from a previous conversation/;

/** Whether a line contains a compaction's summary. In the output of `claude -p` only its text tells. */
function isSummary({ value }: Line, blocks: readonly JsonObject[]): boolean {
  return value.isCompactSummary === true || (value.isSynthetic === true && SUMMARY.test(textOf(blocks)));
}

function readText(
  session: Session,
  line: Line,
  blocks: readonly JsonObject[],
  isRun: boolean,
  hasResults: boolean,
): Disposition {
  if (isSummary(line, blocks)) return readSummary(session, line, textOf(blocks));
  let typed: JsonObject[] = [];
  let isStopped = false;
  let isNew = false;
  for (const block of blocks) {
    const mark = block.type === "text" ? interruptOf(block) : null;
    if (mark === null) {
      typed.push(block);
      continue;
    }
    // Text next to the interrupt marker is a person's. Text before it belongs to the turn; text after it opens the next.
    if (typed.length > 0) readTyped(session, line, typed, isRun, true);
    typed = [];
    isNew = session.interrupt(line, interruptReason(session, line, mark[1] !== undefined)) || isNew;
    isStopped = true;
  }
  if (!isStopped) return readTyped(session, line, blocks, isRun, hasResults);
  if (typed.length > 0) readTyped(session, line, typed, isRun, false);
  return isNew || blocks.length > 1 ? { kind: "shown" } : { kind: "folded", into: "the interrupt before it" };
}

/** Reads blocks without an interrupt marker. */
function readTyped(
  session: Session,
  line: Line,
  blocks: readonly JsonObject[],
  isRun: boolean,
  hasResults: boolean,
): Disposition {
  const text = textOf(blocks);
  const others = blocks.some((block) => block.type !== "text");
  const messages = others ? undefined : agentMessages(text);
  if (messages !== undefined) return readMessages(session, line, messages);
  const elements = parseWrappers(text);
  if (!others && elements?.every(isNotification) === true) return readWrapped(session, line, elements);
  // The name of the mark in the output of `claude -p` is `isSynthetic`.
  if (line.value.isMeta === true || line.value.isSynthetic === true)
    return readInjected(session, line, blocks, text, elements);
  if (!others && text.trim() === "") return { kind: "hidden", rule: "empty message" };

  const prompt: JsonObject[] = [];
  const wrapped: WrapperElement[] = [];
  for (const block of blocks) {
    const elements = block.type === "text" ? parseWrappers(asString(block.text) ?? "") : undefined;
    if (elements === undefined) {
      if (block.type !== "text" || asText(block.text) !== undefined || !("text" in block)) prompt.push(block);
    } else wrapped.push(...elements);
  }
  // Content that the editor added to a prompt belongs to the prompt's turn and follows the prompt.
  let disposition = prompt.length === 0 ? undefined : readPrompt(session, line, prompt, isRun, hasResults);
  if (wrapped.length > 0) disposition = firstOf(disposition, readWrapped(session, line, wrapped));
  return disposition ?? { kind: "hidden", rule: "empty message" };
}

function readPrompt(
  session: Session,
  line: Line,
  given: readonly JsonObject[],
  isRun: boolean,
  hasResults: boolean,
): Disposition {
  const framed = isRun ? framedTask(textOf(given)) : undefined;
  const prompt: readonly JsonObject[] =
    framed === undefined
      ? given
      : [{ type: "text", text: framed.task }, ...given.filter(({ type }) => type !== "text")];
  if (prompt.some((block) => block.type === "text") && session.isReplayedPrompt(line, textOf(prompt))) {
    return { kind: "folded", into: "the same prompt before it" };
  }
  const kind = asString(asObject(line.value.origin)?.kind);
  const notified = kind === "task-notification";
  const fromAgent = isRun || kind === "coordinator" || kind === "teammate";
  const scheduled = session.fired !== undefined && !hasResults;
  const origin = scheduled ? "schedule" : notified ? "notification" : fromAgent ? "agent" : undefined;
  if (notified) noteBareEnd(session, line, textOf(prompt));
  session.prompt(line, promptParts(prompt), {
    ...(origin !== undefined && { origin }),
    // Text next to results belongs to the running turn, and so do messages from other agents.
    opensTurn: scheduled || (!hasResults && !notified && (!fromAgent || !session.turnOpen)),
    typed: !isRun && origin === undefined && !hasResults,
  });
  if (framed !== undefined) {
    const title = claudeCodeTitle("added_around_task", { text: firstLine(framed.frame) });
    session.marker(line, "context", title, framed.frame);
  }
  session.localCommand = false;
  session.command = undefined;
  return { kind: "shown" };
}

function readSummary(session: Session, line: Line, text: string): Disposition {
  const boundary = session.boundary;
  if (boundary !== undefined) {
    session.boundary = undefined;
    // `readBoundary` wrote it.
    const frame = JSON.parse(boundary.frame) as FrameBodyOf<"marker">;
    session.push(line, { ...frame, text }, boundary.place);
    return { kind: "folded", into: "the compaction that it summarizes" };
  }
  session.compact(line);
  session.marker(line, "compaction", claudeCodeTitle("conversation_summary"), text);
  return { kind: "shown" };
}

/** The name of what a person declines when a tool asks for something other than a permission. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["AskUserQuestion", "question declined"],
  ["ExitPlanMode", "plan rejected"],
]);

/**
 * The title of an interrupt. If a person pressed Esc, the marker names the message that was cut off; a stopped call says so in
 * its result.
 */
function interruptReason(session: Session, line: Line, inTool: boolean): string {
  if (asString(line.value.interruptedMessageId) !== undefined)
    return inTool ? "interrupted by the user during a tool call" : "interrupted by the user";
  const { lastOutcome, answered } = session;
  if (inTool && lastOutcome?.kind === "refused" && lastOutcome.by === "person")
    return REFUSED.get(answered?.tool_name ?? "") ?? "permission refused";
  // Under the SDK, the user may be a program.
  if (asString(line.value.entrypoint)?.startsWith("sdk") === true)
    return inTool ? "stopped during a tool call" : "stopped";
  return inTool ? "stopped by the user during a tool call" : "interrupted by the user";
}

/** Reads a notification without markup. */
function noteBareEnd(session: Session, line: Line, text: string): void {
  endBackground(session, line, { summary: text, status: undefined, result: undefined });
}

/**
 * Reads a `queued_command` attachment. Content that arrived while the agent worked belongs to the running turn, whoever sent
 * it.
 */
export function readQueued(session: Session, line: Line, attachment: JsonObject): Disposition {
  const blocks = blocksOf(attachment.prompt);
  const messages = blocks.every(({ type }) => type === "text") ? agentMessages(textOf(blocks)) : undefined;
  if (messages !== undefined) return readMessages(session, line, messages);
  const parts = blocks.flatMap((block): Part[] => {
    const elements = block.type === "text" ? parseWrappers(asString(block.text) ?? "") : undefined;
    const notices = elements?.filter(isNotification) ?? [];
    if (notices.length === 0) return promptParts([block]);
    return notices.map((notice) => ({ type: "text", text: readNotification(session, line, notice) }));
  });
  if (parts.length === 0) return { kind: "hidden", rule: "empty message" };
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  if (session.wasShown(text)) return { kind: "folded", into: "the queued prompt" };
  const kind = asString(asObject(attachment.origin)?.kind);
  const origin =
    attachment.commandMode === "task-notification" || kind === "task-notification"
      ? ("notification" as const)
      : kind === "coordinator" || kind === "teammate" || kind === "agent"
        ? ("agent" as const)
        : undefined;
  session.prompt(line, parts, { ...(origin !== undefined && { origin }), opensTurn: false, typed: false });
  return { kind: "shown" };
}
