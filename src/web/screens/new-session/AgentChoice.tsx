import { type ReactNode, useState } from "react";
import type { AgentsReply } from "../../../protocol.ts";
import { translatedText } from "../../text/daemon-text.ts";
import { t } from "../../text/text.ts";

type Agent = AgentsReply["agents"][number];

interface Props {
  agents: readonly Agent[];
  chosen: string | undefined;
  invalid: boolean;
  onChoose(id: string): void;
}

/**
 * Selects an agent. Agents that lack their API key or program are collapsed, unless there are no others.
 */
export function AgentChoice({ agents, chosen, invalid, onChoose }: Props): ReactNode {
  const ready = agents.filter(({ unavailable }) => unavailable === undefined);
  const unavailableAgents = agents.filter(({ unavailable }) => unavailable !== undefined);
  const [open, setOpen] = useState(
    () => ready.length === 0 || unavailableAgents.some(({ id }) => id === chosen),
  );
  const lines = (some: readonly Agent[]): ReactNode => (
    <ul className="agent-list">
      {some.map((agent) => (
        <AgentLine
          key={agent.id}
          agent={agent}
          chosen={agent.id === chosen}
          invalid={invalid && agent.id === chosen}
          onChoose={onChoose}
        />
      ))}
    </ul>
  );
  return (
    <div className="agents">
      {ready.length > 0 && lines(ready)}
      {unavailableAgents.length > 0 && (
        <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary className="agents-lacking">
            {t.start.needSetup(unavailableAgents.length)}
            {ready.every(({ scripted }) => scripted) && ` · ${t.start.setUpOne}`}
          </summary>
          {lines(unavailableAgents)}
        </details>
      )}
    </div>
  );
}

function AgentLine({
  agent,
  chosen,
  invalid,
  onChoose,
}: {
  agent: Agent;
  chosen: boolean;
  invalid: boolean;
  onChoose(id: string): void;
}): ReactNode {
  return (
    <li className={agent.unavailable ? "agent is-unavailable" : "agent"}>
      <label>
        <input
          type="radio"
          name="agent"
          checked={chosen}
          aria-invalid={invalid || undefined}
          onChange={() => onChoose(agent.id)}
        />
        <span className="agent-title">{agent.title}</span>
        <span className="agent-kind">{kindOf(agent)}</span>
      </label>
      {agent.unavailable && chosen && (
        <p className="agent-missing">
          {translatedText(agent.unavailable.remedy, agent.unavailable.remedy_code)}
        </p>
      )}
    </li>
  );
}

function kindOf({ scripted, unavailable, kind }: Agent): string {
  if (scripted) return t.start.scripted;
  if (unavailable) return translatedText(unavailable.message, unavailable.message_code);
  return kind === "acp" ? t.start.acp : t.start.ownAgent;
}
