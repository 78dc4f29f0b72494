import type { Script } from "../script.ts";
import agents from "./agents.json" with { type: "json" };
import agentsCheck from "./agents-check.json" with { type: "json" };
import agentsCount from "./agents-count.json" with { type: "json" };
import agentsReview from "./agents-review.json" with { type: "json" };
import agentsSurvey from "./agents-survey.json" with { type: "json" };
import approval from "./approval.json" with { type: "json" };
import discovery from "./discovery.json" with { type: "json" };
import endless from "./endless.json" with { type: "json" };
import faults from "./faults.json" with { type: "json" };
import hello from "./hello.json" with { type: "json" };
import long from "./long.json" with { type: "json" };
import parallel from "./parallel.json" with { type: "json" };
import question from "./question.json" with { type: "json" };

const FILES: Readonly<Record<string, unknown>> = {
  hello,
  discovery,
  parallel,
  agents,
  approval,
  question,
  long,
  faults,
  endless,
  // Played by the sub-agents of `agents`.
  "agents-survey": agentsSurvey,
  "agents-count": agentsCount,
  "agents-review": agentsReview,
  "agents-check": agentsCheck,
};

/** The built-in scripts by name. The name is used as the session's model. */
export const scripts: ReadonlyMap<string, Script> = new Map(
  // Tests validate them. Validating them here would cost every start of the daemon 20 ms.
  Object.entries(FILES).map(([name, file]) => [name, file as Script]),
);
