import { asNumber, asObject, asString, asText, type JsonObject } from "../../../model/narrow.ts";
import type { CodedText } from "../../../model/text/catalog.ts";
import { daemonText } from "../../../model/text/daemon-texts.ts";
import type { DisplayText } from "../../../model/text/display-text.ts";
import { openCodeSessionId } from "../../../sources/opencode/ids.ts";
import type { AgentState } from "../agent-state.ts";
import type { HookStream } from "../hook-socket.ts";
import type { LiveEvent } from "../live-text/live-event.ts";
import { InputRefused, type TerminalInput } from "../terminal-input.ts";
import { createPartEventReader } from "./part-events.ts";

/** Time within which opencode must accept a prompt, in milliseconds. */
const REPLY_MS = 10_000;

/** The connections of the plugins in running opencode processes: events come in, prompts go out. */
export interface OpenCodeStreams {
  readonly input: TerminalInput;
  /** Whether a session works, as its process says. `undefined`: no process has reported it. */
  stateOf(session_id: string): AgentState | undefined;
  /** Follows a stream if its first line is from a plugin. `false`: another body. */
  follow(body: unknown, stream: HookStream): boolean;
}

export interface OpenCodeStreamsOptions {
  /** Whether opencode is attached. */
  isAttached(): boolean;
  onLive(event: LiveEvent): void;
  /** Called with the id of a session when its state changes, or whether it takes prompts. */
  onChange(session_id: string): void;
}

/** Time for which the attached state is cached, because events arrive for every token. Milliseconds. */
const ATTACHED_MS = 1_000;

/** A session in a running process. */
interface Reached {
  /** opencode's id of the session. */
  name: string;
  state?: AgentState;
  post(url: string, body: JsonObject): Promise<void>;
}

const refusedBecause = (reason: string): CodedText =>
  daemonText("agent_refused", { agent: "opencode", reason });

export function createOpenCodeStreams(options: OpenCodeStreamsOptions): OpenCodeStreams {
  const { onLive, onChange } = options;
  const sessions = new Map<string, Reached>();
  let attached = { at: Number.NEGATIVE_INFINITY, is_attached: false };

  function isAttached(): boolean {
    const at = performance.now();
    if (at - attached.at > ATTACHED_MS) attached = { at, is_attached: options.isAttached() };
    return attached.is_attached;
  }

  function follow(body: unknown, stream: HookStream): boolean {
    const hello = asObject(body);
    if (hello?.agent !== "opencode" || hello.type !== "stream") return false;
    const readPart = createPartEventReader(Date.now);
    const replies = new Map<number, (problem: DisplayText | undefined) => void>();
    let next_id = 1;

    const post = (url: string, message: JsonObject): Promise<void> =>
      new Promise((resolve, reject) => {
        const id = next_id++;
        const end = (problem: DisplayText | undefined) => {
          clearTimeout(timer);
          replies.delete(id);
          if (problem === undefined) resolve();
          else reject(new InputRefused(problem));
        };
        const timer = setTimeout(() => end(daemonText("opencode_silent")), REPLY_MS);
        replies.set(id, end);
        stream.send({ id, url, body: message });
      });

    stream.onLine((line) => {
      const message = asObject(line);
      const type = asText(message?.type);
      const properties = asObject(message?.properties) ?? {};
      if (type === "reply") {
        const { id, problem } = properties;
        const reason = asString(problem);
        return replies.get(asNumber(id) ?? 0)?.(reason === undefined ? undefined : refusedBecause(reason));
      }
      const name = asText(properties.sessionID);
      if (type === undefined || name === undefined || !isAttached()) return;
      const session_id = openCodeSessionId(name);
      if (type === "session.deleted") {
        if (sessions.delete(session_id)) onChange(session_id);
        return;
      }
      if (sessions.get(session_id)?.post !== post) {
        sessions.set(session_id, { name, post });
        onChange(session_id);
      }
      const status = type === "session.idle" ? "idle" : asText(properties.status);
      if (status !== undefined) setState(session_id, status !== "idle");
      for (const event of readPart(type, properties)) onLive(event);
    });
    stream.onGone(() => {
      for (const end of [...replies.values()]) end(daemonText("opencode_ended"));
      for (const [session_id, reached] of sessions) {
        if (reached.post !== post) continue;
        sessions.delete(session_id);
        onLive({ session_id, at: Date.now(), type: "turn_end" });
        onChange(session_id);
      }
    });
    return true;
  }

  function setState(session_id: string, busy: boolean): void {
    const reached = sessions.get(session_id);
    if (reached === undefined || reached.state?.busy === busy) return;
    reached.state = { by: "server", busy, since: Date.now() };
    onChange(session_id);
  }

  function requireReachable(session_id: string): Reached {
    const reached = isAttached() ? sessions.get(session_id) : undefined;
    if (reached === undefined) throw new InputRefused(daemonText("not_in_opencode"));
    return reached;
  }

  return {
    follow,
    stateOf: (session_id) => (isAttached() ? sessions.get(session_id)?.state : undefined),
    input: {
      accepts: (session_id) => sessions.has(session_id) && isAttached(),
      async prompt(session_id, text) {
        const { name, post } = requireReachable(session_id);
        await post(`/session/${name}/prompt_async`, { parts: [{ type: "text", text }] });
      },
      async stop(session_id) {
        const { name, post } = requireReachable(session_id);
        await post(`/session/${name}/abort`, {});
      },
    },
  };
}
