import type { Frame } from "../../model/frames/frame.ts";
import { asNumber, asText, type JsonObject } from "../../model/narrow.ts";
import { RawJson } from "../../model/raw-json.ts";
import { claudeCodeTitle } from "../../model/text/claude-code-titles.ts";
import { titleFields } from "../../model/text/titles.ts";
import type { LinkFacts, ReadRecord } from "../contract.ts";
import type { LineRecord } from "../lines/lines.ts";
import { parsedTime } from "../parsed-time.ts";
import { leaveBackground } from "./background.ts";
import { readLine } from "./file-lines.ts";
import type { OpenFile } from "./open-file.ts";
import { type Line, resumedLine, type Session } from "./session-types.ts";
import { isWhole } from "./steps.ts";

function timeOf(file: OpenFile, value: JsonObject): number {
  const { state } = file;
  const { timestamp } = value;
  const at = typeof timestamp === "string" ? parsedTime(timestamp) : asNumber(timestamp);
  if (at !== undefined && !Number.isNaN(at)) state.lastAt = at;
  return state.lastAt;
}

/** Reads a record. */
export function readRecord(file: OpenFile, record: LineRecord): ReadRecord {
  const { place } = record;
  if (record.blank === true)
    return { place, disposition: { kind: "hidden", rule: "blank line" }, frames: [] };
  if (record.error !== undefined) return readBroken(file, record);
  const { value, text } = record;
  const uuid = asText(value.uuid);
  const line: Line = {
    place,
    value,
    raw: new RawJson({ text }),
    uuid,
    print: 0,
    key: uuid ?? `byte ${place.byte}`,
    at: timeOf(file, value),
    frames: [],
    inherited: false,
  };
  const disposition = readLine(file, line);
  const { print, key, at, inherited } = line;
  file.state.last = { place, value: {}, uuid, print, key, at, inherited };
  return { place, disposition, frames: line.frames };
}

function readBroken(file: OpenFile, { place, text, error }: LineRecord & { error: string }): ReadRecord {
  const { main } = file;
  const line: Line = {
    place,
    value: {},
    raw: new RawJson({ text }),
    uuid: undefined,
    print: 0,
    key: `byte ${place.byte}`,
    at: file.state.lastAt,
    frames: [],
    inherited: false,
  };
  const { part_id } = main.recordPart(line);
  const title = titleFields(claudeCodeTitle("claude_unreadable_line"));
  main.push(line, { type: "unknown", part_id, raw: text, ...title, error });
  return { place, disposition: { kind: "unreadable" }, frames: line.frames };
}

/** Ends turns provisionally while the file does not grow. */
export function settleFile(file: OpenFile): ReadRecord | undefined {
  return atEnd(file, (session, line) => {
    if (session === file.main && file.state.stream.isOpen) return;
    // The model ended its turn with text, and none of its calls is running. If it hit its output limit, it is asked to
    // continue. A compaction after its answer ends the step but not the turn.
    const { openStep, lastStep } = session;
    const step = openStep ?? lastStep;
    const isFinal = step !== undefined && step === session.finalStep;
    const ended =
      step !== undefined && (isFinal || (isWhole(step) && step.stop !== "max_tokens")) && !session.damaged;
    if (ended && session.openCalls() === 0) {
      session.provisionalEnd(line, session.turnFailed ? "failed" : "completed");
    } else if (openStep === undefined && session.turnFailed) {
      session.provisionalEnd(line, "failed");
    } else if (!session.hasPrompt() || session.isAnswered()) {
      // Content before the first prompt requests nothing. The model may still respond to a command's output.
      session.provisionalEnd(line, "completed");
    }
  });
}

/** Ends everything that is open at the end of the file. */
export function closeFile(file: OpenFile, stopped = false): ReadRecord | undefined {
  const { main } = file;
  return atEnd(file, (session, line) => {
    if (session === main) file.state.stream.showCutOff(main, line);
    const yielded = session.hasYielded() && session.openCalls() === 0;
    const hasYielded = yielded || session.isAnswered() || !session.hasPrompt();
    const stops = !session.turnFailed && !hasYielded && !stopped;
    const status = session.turnFailed || stops ? "failed" : hasYielded ? "completed" : "interrupted";
    session.addTimerNote(line);
    session.dropQueued(line, true);
    leaveBackground(session, line);
    session.endStep(line);
    session.endTurn(line, status, stops);
  });
}

/** Returns frames that are inferred from the end of the file. They refer to its last line and belong to no record. */
function atEnd(
  file: OpenFile,
  settleSession: (session: Session, line: Line) => void,
): ReadRecord | undefined {
  const { state } = file;
  const { last } = state;
  if (last === undefined) return undefined;
  const frames: Frame[] = [];
  const line: Line = { ...resumedLine(last, frames), at: state.lastAt };
  for (const session of sessionsOf(file)) settleSession(session, line);
  if (frames.length === 0) return undefined;
  return {
    place: { ...last.place, length: 0 },
    disposition: { kind: "folded", into: "the end of the turn" },
    frames,
  };
}

/** The link facts of the file's sessions. */
export function linkFactsOf(file: OpenFile): LinkFacts {
  return {
    sessions: sessionsOf(file)
      .filter((session) => session.begun && session.hidden === undefined)
      .map((session) => session.linkFacts()),
  };
}

function sessionsOf(file: OpenFile): Session[] {
  return [file.main, ...file.inline];
}
