import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { FileDiff, UiExtra } from "../../model/parts/ui-extra.ts";
import type { TurnStatus } from "../../model/transcript/transcript.ts";
import { resultContent } from "../conversation/content.ts";
import { Conversation } from "../conversation/conversation.ts";
import { nameRun } from "../conversation/runs.ts";
import { ofFailure, withExit } from "../conversation/tool-payload.ts";
import { fileDiff } from "../conversation/unified-diff.ts";
import { agentIn, withAgent } from "../kimi/loop.ts";
import type { Event } from "./event.ts";
import { endPiece } from "./output.ts";
import { type AgentState, REFUSED, takeLast } from "./state.ts";

/** Number of unchanged lines that are shown around a change. */
const CONTEXT = 3;

/** Reads `ToolResult`: what the tool returned, and its message, which the model gets before the output. */
export function readResult({ state, agent, conversation, payload }: Event): undefined {
  const id = asText(payload.tool_call_id);
  const value = asObject(payload.return_value) ?? {};
  const failed = value.is_error === true;
  const message = asString(value.message) ?? "";
  const { output_text: output, parts } = resultContent(value.output);
  const output_start = message !== "" && output !== "" ? message.length + 1 : undefined;
  const output_text = output_start === undefined ? message + output : `${message}\n${output}`;
  const scope = takeLast(state.decided, ({ call }) => call === id)?.scope;
  const refused = scope === REFUSED || (failed && isRefusal(value, message));
  const key = agentIn(output);
  if (key !== undefined && id !== undefined) nameRun(agent, id, key);
  const reason = refused ? /User feedback: ([\s\S]+)$/.exec(message)?.[1] : undefined;
  agent.waiting = Math.max(0, agent.waiting - 1);
  conversation.toolResult({
    id,
    status: refused ? "aborted" : failed ? "error" : "success",
    output_text,
    parts,
    ...(refused && {
      outcome: { kind: "refused", by: "person", ...(reason !== undefined && { reason }) },
    }),
    ...(scope !== undefined && !refused && { permission: { by: "person", scope } }),
    payload: (call) =>
      withOutput(payloadOfResult(call, value, message, failed), output_start, key, output_text),
  });
  if (id !== undefined)
    endRunOf({ state, agent, conversation }, id, refused ? "interrupted" : failed ? "failed" : "completed");
}

/** Whether a person refused the call. The message and its short form are kimi-cli's own. */
function isRefusal(value: JsonObject, message: string): boolean {
  if (message.startsWith("The tool call is rejected by the user")) return true;
  return displayed(value, "brief").some(({ text }) => asString(text)?.startsWith("Rejected by user"));
}

const displayed = (value: JsonObject, type: string): JsonObject[] =>
  asArray(value.display).flatMap((item) => {
    const block = asObject(item);
    return block?.type === type ? [block] : [];
  });

function payloadOfResult(
  call: UiExtra | undefined,
  value: JsonObject,
  message: string,
  failed: boolean,
): UiExtra | undefined {
  if (call?.type === "shell") {
    const exit = /exit code: (-?\d+)/.exec(message)?.[1];
    return withExit(call, { exit_code: exit === undefined ? undefined : Number(exit) });
  }
  if (failed) return ofFailure(call);
  const files = filesIn(displayed(value, "diff"));
  return files.length > 0 ? { type: "diff", files } : call;
}

/** Adds where the tool's own output starts, and the facts in the header of a sub-agent's result. */
function withOutput(
  payload: UiExtra | undefined,
  output_start: number | undefined,
  agent: string | undefined,
  output_text: string,
): UiExtra | undefined {
  const started =
    output_start === undefined ? payload : { ...(payload ?? { type: "output" as const }), output_start };
  return withAgent(started, agent, output_text);
}

/** The changes that kimi-cli showed: a text before and after for each changed place of a file. */
function filesIn(blocks: readonly JsonObject[]): FileDiff[] {
  const hunks = new Map<string, { created: boolean; hunks: FileDiff["hunks"] }>();
  for (const block of blocks) {
    const path = asText(block.path);
    const before = asString(block.old_text);
    const after = asString(block.new_text);
    if (path === undefined || before === undefined || after === undefined || block.is_summary === true)
      continue;
    const file = hunks.get(path) ?? { created: before === "", hunks: [] };
    file.hunks.push(hunkOf(before, after, asNumber(block.old_start) ?? 0, asNumber(block.new_start) ?? 0));
    hunks.set(path, file);
  }
  return [...hunks].map(([path, file]) =>
    fileDiff(path, file.created && file.hunks.length === 1 ? "create" : "update", file.hunks),
  );
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** The changed lines between the equal ones at both ends. A start of 0 is not known, and stays so. */
function hunkOf(
  before: string,
  after: string,
  old_start: number,
  new_start: number,
): FileDiff["hunks"][number] {
  const [old_lines, new_lines] = [linesOf(before), linesOf(after)];
  const most = Math.min(old_lines.length, new_lines.length);
  let head = 0;
  while (head < most && old_lines[head] === new_lines[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old_lines.at(-1 - tail) === new_lines.at(-1 - tail)) tail += 1;
  const first = Math.max(0, head - CONTEXT);
  const last = Math.max(0, tail - CONTEXT);
  const removed = old_lines.slice(head, old_lines.length - tail);
  const added = new_lines.slice(head, new_lines.length - tail);
  const leading = old_lines.slice(first, head);
  const trailing = old_lines.slice(old_lines.length - tail, old_lines.length - last);
  const equal = leading.length + trailing.length;
  return {
    old_start: old_start === 0 ? 0 : old_start + first,
    old_lines: removed.length + equal,
    new_start: new_start === 0 ? 0 : new_start + first,
    new_lines: added.length + equal,
    lines: [
      ...leading.map((line) => ` ${line}`),
      ...removed.map((line) => `-${line}`),
      ...added.map((line) => `+${line}`),
      ...trailing.map((line) => ` ${line}`),
    ],
  };
}

type Session = Pick<Event, "state" | "agent" | "conversation">;

/** Ends the sub-agent that a call started, if its own events did not. */
function endRunOf({ state, agent, conversation }: Session, call: string, status: TurnStatus): void {
  const { session_id } = agent.conversation;
  const run = state.agents.findLast(
    (each) => each.run?.tool_call_id === call && each.run.parent === session_id,
  );
  if (run !== undefined) endRun(run, agent, conversation, status);
}

/** Ends the sub-agents of a stopped agent. */
export function endRuns({ state, agent, conversation }: Session): void {
  for (const run of state.agents)
    if (run.run?.parent === agent.conversation.session_id) endRun(run, agent, conversation, "interrupted");
}

function endRun(run: AgentState, parent: AgentState, conversation: Conversation, status: TurnStatus): void {
  run.conversation.at = Math.max(run.conversation.at, parent.conversation.at);
  const ending = new Conversation(run.conversation);
  endPiece(run, ending);
  ending.endTurn(status);
  conversation.join(ending);
}
