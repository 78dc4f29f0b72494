import { asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import type { Disposition } from "../contract.ts";
import { backgroundCall, isLaunch, keysOf, noteLaunch, noteTaskOutput, startOf } from "./background.ts";
import { inputOf } from "./call-table.ts";
import { resultContent, sample } from "./content.ts";
import { callEnd } from "./outcome.ts";
import { runId } from "./path.ts";
import type { Line, Session } from "./session-types.ts";
import { agentKeyOf, startsRun, todosOf, uiExtraOf } from "./tool-extra.ts";

/** The structured result next to the message, under either name (the output of `claude -p` uses the second). */
function structureOf(line: Line): unknown {
  return line.value.toolUseResult ?? line.value.tool_use_result;
}

/** The tool with which a headless run returns the answer for its schema. The run ends with it. */
const FINAL_TOOL = "StructuredOutput";

/** Reads the result of a call, the `index`th of `count` in its line. */
export function readResult(
  session: Session,
  line: Line,
  block: JsonObject,
  index: number,
  count: number,
): Disposition {
  const named = asString(block.tool_use_id) ?? asString(line.value.sourceToolUseID) ?? `${line.key}:${index}`;
  const { output_text, parts } = resultContent(block.content);
  const is_error = block.is_error === true;
  const call = session.callAnswered(named);
  // If a line has several results, its structured result cannot be assigned to one of them.
  const result = count === 1 ? structureOf(line) : undefined;
  const { tool_name } = call ?? {};
  const { status, outcome, permission } = callEnd({
    value: line.value,
    structure: result,
    is_error,
    output_text,
    tool_name,
  });
  const id = call?.id ?? named;
  const signature = `${status}:${output_text.length}:${parts.length}:${sample(output_text)}`;
  if (call?.result?.signature === signature) return { kind: "folded", into: `the first result of ${id}` };
  const input = inputOf(call);
  const finished = {
    tool_name,
    input,
    result,
    output_text,
    failed: status !== "success",
  };
  const earlier = call?.result?.place ?? session.unclaimed.get(id);
  if (call === undefined && earlier === undefined) session.unclaimed.set(id, line.place);
  const todos = todosOf(finished);
  session.lastOutcome = outcome;
  const messaged = messagedRun(session, tool_name, input, result);
  const resumes = messaged !== undefined && asText(asObject(result)?.resumedAgentId) !== undefined;
  const starts = tool_name !== undefined && startsRun(tool_name) && isLaunch(result, output_text);
  const launched = tool_name !== undefined && status === "success" && (starts || resumes);
  const ui_extra = messaged?.ui_extra ?? uiExtraOf(finished);
  if (launched) {
    const keys = resumes ? new Set<string>() : keysOf(result, output_text);
    const name = asText(input?.name);
    noteLaunch(session, {
      tool_call_id: id,
      tool_name,
      description: asText(input?.description),
      agent_key: [...keys][0],
      names: [id, ...keys, ...(name === undefined ? [] : [name])],
      place: earlier ?? line.place,
      launched: output_text,
      ui_extra,
    });
  } else if (status === "success") noteTaskOutput(session, line, result);
  if (call !== undefined) {
    session.answer(line, call, signature, earlier);
    if (call.tool_name === FINAL_TOOL && status === "success") session.finalStep = session.lastStep;
    if (startsRun(call.tool_name)) {
      noteRun(session, id, asObject(result), output_text);
      // The result replaces the progress. The run's own file, which has the same content, may be gone.
      if (call.progress !== "") {
        session.push(line, {
          type: "task.metadata",
          tool_call_id: id,
          metadata: { progress: call.progress },
        });
        call.progress = "";
      }
    }
  }
  session.push(
    line,
    {
      type: "message.tool_result",
      tool_call_id: id,
      ...(call !== undefined && { tool_name: call.tool_name }),
      is_error,
      status,
      output_text,
      parts,
      ...(ui_extra !== undefined && { ui_extra }),
      ...(outcome !== undefined && { outcome }),
      ...(permission !== undefined && { permission }),
      ...(launched && { background: true }),
      ...session.recordPart(line),
    },
    earlier,
  );
  if (messaged !== undefined) {
    const { session_id, name, task } = messaged.ui_extra;
    session.push(line, {
      type: "task.start",
      tool_call_id: id,
      sub_agent: { session_id, ...(name !== undefined && { name }), ...(task !== undefined && { task }) },
    });
  }
  if (todos !== undefined) session.push(line, { type: "todo.change", todos });
  return earlier !== undefined ? { kind: "folded", into: `the result of ${id}` } : { kind: "shown" };
}

/** The run that received a message of the model. The card links to it, like that of the call that started it. */
function messagedRun(
  session: Session,
  tool_name: string | undefined,
  input: JsonObject | undefined,
  result: unknown,
): { ui_extra: Extract<UiExtra, { type: "sub_agent" }> & { session_id: string } } | undefined {
  if (tool_name !== "SendMessage") return undefined;
  const structure = asObject(result);
  const to = asText(input?.to) ?? asText(input?.recipient);
  const started = to === undefined ? undefined : backgroundCall(session.background, to)?.agent_key;
  const isKey = to !== undefined && session.starts.some(({ agent_key }) => agent_key === to);
  const agent_key = asText(structure?.resumedAgentId) ?? started ?? (isKey ? to : undefined);
  if (agent_key === undefined) return undefined;
  const task = asText(input?.summary) ?? asText(input?.description);
  return {
    ui_extra: {
      type: "sub_agent",
      agent_key,
      session_id: runId(session.facts.group, agent_key),
      ...(to !== undefined && to !== agent_key && { name: to }),
      ...(task !== undefined && { task }),
    },
  };
}

function noteRun(session: Session, id: string, result: JsonObject | undefined, output_text: string): void {
  const tail = /\b(?:agentId|agent_id): ?([\w@.-]+)/.exec(output_text)?.[1];
  noteAgentKey(session, id, agentKeyOf(result) ?? tail);
}

/** Records which run a call started. The first value is kept: a later message to the same run does not change it. */
export function noteAgentKey(session: Session, id: string, agent_key: string | undefined): void {
  const fact = startOf(session, id);
  if (fact !== undefined && fact.agent_key === undefined && agent_key !== undefined)
    fact.agent_key = agent_key;
}
