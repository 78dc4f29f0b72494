import type { Attachment } from "../../protocol.ts";

/** Attaching to one agent, so that the requests of its terminal sessions can be answered in Verbatim. */
export interface AgentAttachment {
  /** Whether the agent is attached. Throws `UsageError` if its files cannot be read. */
  isInstalled(): boolean;
  /** Whether the agent is attached, and what attaching or detaching changes. `problem` tells which file cannot be read. */
  describe(): Attachment;
  /** Throws `UsageError` if the agent cannot be attached. */
  install(): void;
  remove(): void;
}
