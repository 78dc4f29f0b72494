import { randomUUID } from "node:crypto";
import type { CreateElicitationResponse, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { asObject, asText, type JsonObject, messageOf } from "../../model/narrow.ts";
import type { Answer } from "../../model/request.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { outcomeReason } from "../../model/text/outcome-reasons.ts";
import { type Driver, emit } from "./driver.ts";
import { answerForm } from "./elicitation.ts";
import { requestOf } from "./permission.ts";

/** Shows a form of the agent to the user and answers it with the user's input. */
export async function askForm(
  driver: Driver,
  params: JsonObject,
  withdrawn: AbortSignal,
): Promise<CreateElicitationResponse> {
  const { reader } = driver;
  const { host } = driver.options;
  const current = driver.turn;
  const tool_call_id = asText(params.toolCallId);
  emit(driver, reader.endText());
  const response =
    current &&
    (await answerForm(params, async (request) => {
      const { answer } = await askUser(driver, tool_call_id, [withdrawn, current], (signal) =>
        host.ask(request, signal),
      );
      return answer;
    }));
  if (response === undefined) emit(driver, reader.pushUnknown(params, agentTitle("form_not_shown")));
  await host.stored();
  return response ?? { action: "cancel" };
}

/** Shows a permission request of the agent to the user and answers it with the user's choice. */
export async function askPermission(
  driver: Driver,
  params: JsonObject,
  withdrawn: AbortSignal,
): Promise<RequestPermissionResponse> {
  const { reader } = driver;
  const { host } = driver.options;
  const cancelled = { outcome: { outcome: "cancelled" as const } };
  const { frames, tool_call_id, tool_name } = reader.announce(asObject(params.toolCall) ?? {});
  emit(driver, frames);
  const request = requestOf(params, { request_id: randomUUID(), tool_call_id, tool_name });
  if (request.options.length === 0 || driver.turn === undefined) {
    emit(driver, reader.pushUnknown(params, agentTitle("permission_not_answerable")));
    return cancelled;
  }
  const { answer, problem, is_aborted } = await askUser(
    driver,
    tool_call_id,
    [withdrawn, driver.turn],
    (signal) => host.ask(request, signal),
  );
  const notAskedReason =
    problem === undefined || is_aborted ? undefined : outcomeReason("user_not_asked", { problem });
  const isExpired = answer === undefined && !is_aborted;
  const chosen = request.options.find(({ id, kind }) =>
    isExpired ? kind === "reject_once" : answer?.option_ids.includes(id) === true,
  );
  if (chosen === undefined) {
    reader.refuse(tool_call_id, notAskedReason ?? outcomeReason("not_allowed"));
    return cancelled;
  }
  if (chosen.kind === "reject_once" || chosen.kind === "reject_always") {
    const expired = notAskedReason ?? outcomeReason("not_answered_in_time");
    reader.refuse(
      tool_call_id,
      isExpired ? expired : outcomeReason("refused_with", { option: chosen.label }),
    );
  } else reader.allow(tool_call_id);
  // The permission must be on disk before the call can run.
  await host.stored();
  return { outcome: { outcome: "selected", optionId: chosen.id } };
}

/** Asks the user. The request is closed when the agent withdraws it, or when the call or the turn ends. */
async function askUser(
  driver: Driver,
  tool_call_id: string | undefined,
  signals: readonly AbortSignal[],
  ask: (signal: AbortSignal) => Promise<Answer | undefined>,
): Promise<{ answer?: Answer | undefined; problem?: string; is_aborted: boolean }> {
  const wait = new AbortController();
  const open = { tool_call_id, wait };
  driver.waiting.add(open);
  const signal = AbortSignal.any([wait.signal, ...signals]);
  try {
    return { answer: await ask(signal), is_aborted: signal.aborted };
  } catch (error) {
    return { problem: messageOf(error), is_aborted: signal.aborted };
  } finally {
    driver.waiting.delete(open);
  }
}
