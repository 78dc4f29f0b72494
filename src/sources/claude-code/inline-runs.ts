import { asObject, asString, asText } from "../../model/narrow.ts";
import { uuidFrom } from "../../model/uuid.ts";
import type { OpenFile } from "./open-file.ts";
import { initialSession, openSession } from "./session.ts";
import type { Line, Session } from "./session-types.ts";

/** The session of a line: this file's, or an inline run. */
export function sessionOf(file: OpenFile, line: Line): Session {
  const { main, state } = file;
  const { value, uuid } = line;
  const call = asText(value.parent_tool_use_id);
  const sidechain = value.isSidechain === true || call !== undefined;
  if (!sidechain || state.identity.run !== undefined) return main;
  const parent = asText(value.parentUuid);
  const agent = asText(value.agentId);
  const name = agent !== undefined ? `agent-${agent}` : call !== undefined ? `call-${call}` : undefined;
  let index =
    name !== undefined
      ? inlineIndex(file, name)
      : parent === undefined
        ? undefined
        : // The beginning of its chain may be cut off.
          (state.inlineOfLine.get(file.printOf(parent)) ?? state.lastInline);
  if (index === undefined) {
    const key = name ?? `sidechain-${line.key}`;
    // The first line of a run may be repeated.
    index = inlineIndex(file, key) ?? openInline(file, key, line, agent ?? call ?? line.key, call);
  }
  if (uuid !== undefined) state.inlineOfLine.set(line.print, index);
  state.lastInline = index;
  return file.inline[index] ?? main;
}

function inlineIndex(file: OpenFile, key: string): number | undefined {
  const index = file.state.inline.findLastIndex((each) => each.key === key);
  return index === -1 ? undefined : index;
}

function openInline(
  file: OpenFile,
  key: string,
  line: Line,
  agent_key: string,
  tool_call_id: string | undefined,
): number {
  const { state } = file;
  const { main_id } = state.identity;
  const session = initialSession(uuidFrom(main_id, key), main_id);
  session.facts.run = {
    agent_key,
    parent_session_id: main_id,
    ...(tool_call_id !== undefined && { tool_call_id }),
    at: line.at,
  };
  state.inline.push({ key, session });
  return file.inline.push(openSession(session, file.path)) - 1;
}

/** The rule that hides a whole session: an agent that the program starts for its own use. */
export function hidingRuleOf(session: Session, line: Line, type: string | undefined): string | undefined {
  const known = session.hidden;
  if (known !== undefined || session.facts.run === undefined || session.begun) return known;
  if (type !== "user") return undefined;
  const content = asObject(line.value.message)?.content;
  const text = asString(content) ?? "";
  if (text.trim() !== "Warmup") return undefined;
  session.hidden = "warm-up of a sub-agent";
  return "warm-up of a sub-agent";
}

/** Removes results of the parent's calls from a run's line. Returns whether nothing else is left. */
export function answersInherited(file: OpenFile, line: Line): boolean {
  const { state } = file;
  const message = asObject(line.value.message);
  if (!state.copies.hasCalls() || !Array.isArray(message?.content)) return false;
  const content: unknown[] = message.content;
  const rest = content.filter((block) => {
    const named = asString(asObject(block)?.tool_use_id);
    return named === undefined || !state.copies.isCall(named);
  });
  if (rest.length < content.length) line.value = { ...line.value, message: { ...message, content: rest } };
  return rest.length === 0 && content.length > 0;
}
