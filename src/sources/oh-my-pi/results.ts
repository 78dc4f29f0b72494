import { asArray, asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { CallOutcome } from "../../model/parts/outcome.ts";
import type { UiExtra } from "../../model/parts/ui-extra.ts";
import { payloadOf, todosOf } from "../conversation/tool-payload.ts";
import { withOutputPath } from "./output-file.ts";

const NOT_RUN = /^Tool was not executed because the run was aborted: /;

/** The outcome of a call that neither succeeded nor failed; `undefined`: it did. */
export function outcomeOf(details: JsonObject | undefined, text: string): CallOutcome | undefined {
  if (details?.executed === false) {
    // Someone stopped the answer, and the record does not say who. In all other cases oh-my-pi itself did not run the call.
    return details.source === "assistant_stop_aborted"
      ? { kind: "refused" }
      : { kind: "refused", by: "program" };
  }
  // Stopped in favour of a message to the agent.
  if (details?.__interrupted === true) return { kind: "stopped", by: "program" };
  return NOT_RUN.test(text) ? { kind: "refused" } : undefined;
}

/** The call and the details of a result. `write` runs other tools as well: its result has their arguments and details. */
export function calledTool(
  call: UiExtra | undefined,
  recorded: JsonObject | undefined,
  tool_name: string | undefined,
): { call: UiExtra | undefined; details: JsonObject | undefined } {
  const details = withOutputPath(recorded, tool_name);
  const device = asObject(details?.xdev);
  const tool = asText(device?.tool);
  if (tool === undefined) return { call: todosIn(details) ?? call, details };
  const inner = asObject(device?.inner);
  return { call: todosIn(inner) ?? payloadOf(tool, asObject(device?.args)), details: inner };
}

/** The whole to-do list, which results of `todo` have and its calls do not. Items that were given up are left out. */
function todosIn(details: JsonObject | undefined): UiExtra | undefined {
  const tasks = asArray(details?.phases).flatMap((phase) => asArray(asObject(phase)?.tasks));
  const todos = todosOf(tasks.filter((task) => asObject(task)?.status !== "abandoned"));
  return todos.length === 0 ? undefined : { type: "todos", todos };
}
