import type { AgentsReply, Unavailable } from "../../../protocol.ts";
import type { ApiFailure } from "../../api/requests.ts";
import type { Choice } from "../../composer/saved-draft.ts";
import { sentences, translatedText } from "../../text/daemon-text.ts";
import { failureText, refusedField } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";

type Agent = AgentsReply["agents"][number];

/** Where a problem is shown: at its field, or at the end of the form. */
type Field = "agent" | "model" | "cwd" | "prompt" | "form";
export type Problems = Partial<Record<Field, string>>;

/** The initial choice: the agent used last if it is available, otherwise the first available one. */
export function suggested({ agents, recent, cwd }: AgentsReply): Choice {
  const usable = (id: string): boolean => agents.some((agent) => agent.id === id && !agent.unavailable);
  const last = recent.find(({ agent }) => usable(agent));
  const agent = last?.agent ?? (agents.find(({ unavailable }) => !unavailable) ?? agents[0])?.id;
  const model = last?.model ?? modelFor({ agents, recent, cwd }, agent);
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    cwd: cwdFor({ agents, recent, cwd }, agent),
  };
}

/** The agent's own folder, otherwise the folder used last. */
export function cwdFor({ agents, recent, cwd }: AgentsReply, id: string | undefined): string {
  const own = agents.find((agent) => agent.id === id)?.cwd;
  const last = recent.find((used) => agents.every((agent) => agent.cwd !== used.cwd));
  return own ?? last?.cwd ?? cwd;
}

/** The model that an agent was last used with or, if there is none, its first model. */
export function modelFor({ agents, recent }: AgentsReply, id: string | undefined): string | undefined {
  const used = recent.find(({ agent, model }) => agent === id && model !== undefined)?.model;
  const agent = agents.find((each) => each.id === id);
  if (agent?.kind === "acp" && used === undefined) return undefined;
  return used ?? agent?.models[0]?.id;
}

/** Validates the form without the daemon. */
export function check(
  agent: Agent | undefined,
  choice: Choice,
  prompt: { text: string; images: readonly string[] },
): Problems {
  const problems: Problems = {};
  if (agent === undefined) problems.agent = t.start.chooseAgent;
  else if (agent.unavailable) problems.agent = unavailableText(agent.unavailable);
  if (agent?.kind === "provider" && (choice.model ?? "").trim() === "")
    problems.model = agent.scripted ? t.start.nameScript : t.start.nameModel;
  const cwd = (choice.cwd ?? "").trim();
  if (!/^(?:\/|[A-Za-z]:[\\/])/.test(cwd)) problems.cwd = t.start.wholePath;
  if (prompt.text.trim() === "" && prompt.images.length === 0) problems.prompt = t.start.enterPrompt;
  else if (prompt.images.length > 0 && agent !== undefined && !agent.takes_images)
    problems.prompt = t.start.noImages(agent.title);
  return problems;
}

function unavailableText({ message, message_code, remedy, remedy_code }: Unavailable): string {
  return sentences(translatedText(message, message_code), translatedText(remedy, remedy_code));
}

/** Shows the daemon's refusal at the field that its error code names. */
export function problemsOf(failure: ApiFailure): Problems {
  const text = failureText(failure);
  if (failure.code !== "refused") {
    return { form: failure.code === "offline" ? t.start.startsLater(text) : text };
  }
  const reason = `${failure.reason} ${refusedField(failure.message)}`;
  if (/cwd|folder/.test(reason)) return { cwd: text };
  if (/model|script/.test(reason)) return { model: text };
  if (/agent|provider|key|unavailable/.test(reason)) return { agent: text };
  if (/prompt|image/.test(reason)) return { prompt: text };
  return { form: text };
}
