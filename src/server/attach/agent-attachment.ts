import type { Attachment } from "../../protocol.ts";

/** Whether an agent's sessions in terminals are answered here. */
export interface AgentAttachment {
  /** Whether it is attached, and what attaching or detaching changes. */
  describe(): Attachment;
  /** Throws `UsageError` where the agent cannot be attached. */
  install(): void;
  remove(): void;
}
