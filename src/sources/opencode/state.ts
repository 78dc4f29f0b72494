import type { Part } from "../../model/messages/part.ts";
import type { SessionLinkFacts } from "../contract.ts";
import type { OpenCodeProduct } from "./ids.ts";

/** A message that later records refer to. */
export interface OpenCodeMessage {
  id: string;
  /** The id in frames. */
  message_id: string;
  role: "user" | "assistant";
  mode?: string;
  /** Not emitted yet, because the message has started no step. */
  model?: string;
  begun?: boolean;
}

/** State of an opencode session between records. */
export interface OpenCodeState {
  product: OpenCodeProduct;
  session_id?: string;
  name: string;
  parent?: string;
  /** Time of the last record with a time, in milliseconds. */
  at: number;
  /** Newest last. */
  messages: OpenCodeMessage[];
  /** The open prompt. Its parts arrive one by one. */
  prompt?: { message: string; parts: { key: string; part: Part }[]; at: number; origin?: "command" };
  /** The agent of the last prompt (build, plan), and the message whose prompt may still name a different one. */
  agent: string;
  switches?: string;
  /** The model of the last assistant message that names one. */
  model?: string;
  /** The last assistant message without an end. */
  open?: string;
  version?: string;
  calls: SessionLinkFacts["calls"];
  run_at?: number;
}
