import { type ReactNode, useId, useState } from "react";
import type { AgentsReply } from "../../../protocol.ts";
import { shortNumber } from "../../text/format.ts";
import { t } from "../../text/text.ts";

type Agent = AgentsReply["agents"][number];

/** Selects an agent's model from a list or, if the agent accepts any model, as free text. */
export function ModelField({
  agent,
  value,
  problem,
  readOnly = false,
  onChange,
}: {
  agent: Agent;
  value: string;
  problem?: string | undefined;
  readOnly?: boolean;
  onChange(model: string): void;
}): ReactNode {
  const id = useId();
  const about = useId();
  const known = agent.models.find((model) => model.id === value);
  // A state, because the text field must stay when it is empty or when its text happens to match a known model.
  const [typing, setTyping] = useState(known === undefined && value !== "");
  const free = agent.any_model && (typing || agent.models.length === 0);
  if (agent.models.length === 0 && !agent.any_model) return null;
  return (
    <div className="field">
      <label htmlFor={id}>{agent.scripted ? t.start.script : t.start.model}</label>
      {agent.models.length > 0 && (
        <select
          id={id}
          className="field-input"
          value={free ? OTHER : value}
          disabled={readOnly}
          aria-describedby={about}
          aria-invalid={(problem !== undefined && !free) || undefined}
          onChange={(event) => {
            const isOther = event.target.value === OTHER;
            setTyping(isOther);
            onChange(isOther ? "" : event.target.value);
          }}
        >
          {known === undefined && !free && (
            <option value={value}>{value === "" ? t.start.ownChoice : value}</option>
          )}
          {agent.models.map((model) => (
            <option key={model.id} value={model.id}>
              {model.title ?? model.id}
            </option>
          ))}
          {agent.any_model && (
            <option value={OTHER}>{agent.scripted ? t.start.otherScript : t.start.otherModel}</option>
          )}
        </select>
      )}
      {free && (
        <input
          {...(agent.models.length === 0
            ? { id }
            : { "aria-label": agent.scripted ? t.start.scriptFile : t.start.modelId })}
          className="field-input field-mono"
          type="text"
          placeholder={agent.scripted ? "file:/path.json" : t.start.modelHint}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={value}
          readOnly={readOnly}
          aria-describedby={about}
          aria-invalid={problem !== undefined || undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      <p className={problem === undefined ? "field-about" : "field-problem"} id={about}>
        {problem ?? factsOf(agent, known, value)}
      </p>
    </div>
  );
}

const OTHER = " other";

function factsOf(agent: Agent, model: Agent["models"][number] | undefined, value: string): string {
  if (agent.scripted) return t.start.plays;
  if (value === "") return "";
  const { context, price } = model ?? {};
  return [
    context === undefined ? undefined : t.start.context(shortNumber(context)),
    price === undefined ? t.start.costUnknown : t.start.price(price.input, price.output),
  ]
    .filter((fact) => fact !== undefined)
    .join(" · ");
}
