import type { AgentSource } from "../../protocol.ts";

/** The agents whose session files are read. */
export interface Sources {
  list(): Promise<AgentSource[]>;
  /** Switches an agent on or off permanently. `undefined`: unknown agent. Throws `Refused` if the choice cannot be stored. */
  change(agent: string, is_on: boolean): Promise<AgentSource | undefined>;
}
