import type { AgentSource } from "../../protocol.ts";

/** The agents whose session files are read. */
export interface Sources {
  list(): Promise<AgentSource[]>;
  /** Switches an agent on or off, for good. `undefined`: there is no such agent. Throws `Refused` where it cannot be kept. */
  change(agent: string, is_on: boolean): Promise<AgentSource | undefined>;
}
