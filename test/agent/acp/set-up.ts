import { afterEach } from "vitest";
import { type AcpAgentOptions, createAcpAgent } from "../../../src/agent/acp/acp-agent.ts";
import type { Agent } from "../../../src/agent/agent.ts";
import type { Answer } from "../../../src/model/request.ts";
import { type ActingHost, createHost } from "./acting-host.ts";
import { type ScriptLine, writeScript } from "./script.ts";

/** Agents of the current test. */
export const made: { host: ActingHost; agent: Agent }[] = [];

/** For the top of a test file: closes the agents of each test after it. */
export function closeMadeAgents(): void {
  afterEach(async () => {
    for (const { host, agent } of made.splice(0)) {
      await agent.close();
      host.remove();
    }
  });
}

/** Answers each request with the first option of `OPTIONS`. */
export const allow = (): Promise<Answer> => Promise.resolve({ option_ids: ["yes"] });

/** A session with an agent that plays a script. Its test file calls `closeMadeAgents`. */
export function setUp(
  lines: readonly ScriptLine[],
  {
    answer = allow,
    earlier = [],
    ...options
  }: {
    answer?: Parameters<typeof createHost>[0];
    earlier?: Parameters<typeof createHost>[1];
  } & Partial<AcpAgentOptions> = {},
) {
  const host = createHost(answer, earlier);
  const agent = createAcpAgent({
    host,
    command: process.execPath,
    args: writeScript(host.cwd, "script", lines),
    env: { PATH: process.env.PATH },
    ...options,
  });
  made.push({ host, agent });
  const ask = (text: string, signal = new AbortController().signal) =>
    host.turn(text, (prompt) => agent.run(prompt, signal));
  return { host, agent, ask };
}
