import type { Frame } from "../../src/model/frames/frame.ts";
import type { Request } from "../../src/model/request.ts";
import type { OpenRequest, SessionControl, SessionSummary } from "../../src/model/session.ts";
import type { MemorySessions } from "../server/memory-sessions.ts";
import { sessionsWith } from "./sessions-with.ts";

export const at = 1_700_000_000_000;
export const uuid = (number: number): string => `00000000-0000-4000-a000-${String(number).padStart(12, "0")}`;

/** Managed sessions whose rows the test sets and changes. */
export interface ManagedTestSessions extends MemorySessions {
  say(id: string, facts: Partial<SessionSummary>): void;
}

export function createManagedTestSessions(): ManagedTestSessions {
  const facts: Record<string, Partial<SessionSummary>> = {};
  const sessions = sessionsWith(facts);
  return Object.assign(sessions, {
    say(id: string, more: Partial<SessionSummary>) {
      facts[id] = { ...facts[id], ...more };
      if (sessions.get(id) !== undefined) sessions.push(id, []);
    },
  });
}

export const control = (given: Partial<SessionControl> = {}): SessionControl => ({
  state: "idle",
  can_steer: true,
  can_fork: true,
  can_compact: true,
  can_switch_model: true,
  takes_images: true,
  queued: [],
  ...given,
});

export const prompt = (session_id: string, text: string, message: number): Frame => ({
  session_id,
  at,
  type: "user.message",
  message_id: uuid(message),
  part_id: uuid(message + 1),
  parts: [{ type: "text", text }],
});

export const answer = (session_id: string, text: string, message: number): Frame[] => [
  { session_id, at, type: "message.start", message_id: uuid(message) },
  { session_id, at, type: "message.part_start", part_id: uuid(message + 1), kind: "text" },
  { session_id, at, type: "message.part_end", part_id: uuid(message + 1), text },
  {
    session_id,
    at: at + 62_000,
    type: "message.end",
    message_id: uuid(message),
    stop_reason: "stop",
    usage: { input: 12_000, output: 340, cost: 0.0421 },
  },
  { session_id, at: at + 62_000, type: "turn.end", status: "completed" },
];

/** An approval of a shell command, as the loop requests it. */
export const approval = (number: number, subject: string, given: Partial<Request> = {}): Request => ({
  request_id: uuid(number),
  kind: "approval",
  title: "Run a command",
  tool_name: "shell",
  subject,
  digest: "the daemon's digest",
  options: [
    { id: "once", label: "Allow once", kind: "allow_once" },
    { id: "always", label: "Always allow echo", kind: "allow_always" },
    { id: "no", label: "Reject", kind: "reject_once" },
  ],
  free_text: true,
  ...given,
});

export const opened = (session_id: string, request: Request): Frame => ({
  session_id,
  at,
  type: "request.open",
  request,
});

export const openRequest = ({ request_id, kind, title }: Request): OpenRequest => ({
  request_id,
  kind,
  title,
  asked_at: at,
});
