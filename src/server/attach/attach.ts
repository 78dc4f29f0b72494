import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { textFields } from "../../model/text/display-text.ts";
import { type Notice, noticeOf } from "../../store/contract.ts";
import type { OpenSession } from "../sessions/sessions.ts";
import type { AgentAttachment } from "./agent-attachment.ts";
import type { AgentState } from "./agent-state.ts";
import { createAnswerLog } from "./answer-log.ts";
import { claudeCodeAttachment } from "./claude-code/attachment.ts";
import { readElicitation } from "./claude-code/elicitation.ts";
import { createMessageDisplayReader } from "./claude-code/message-display.ts";
import { readPermissionRequest } from "./claude-code/permission-request.ts";
import { type AppServer, followAppServer } from "./codex/app-server.ts";
import { codexAttachment } from "./codex/attachment.ts";
import { createHeldRequests, type HeldRequests, type TerminalProcess } from "./held-requests.ts";
import { hookAttachment } from "./hook-attachment.ts";
import { type HookEvent, readHookEvent } from "./hook-event.ts";
import { type HookSocket, hookSocketProblem, openHookSocket } from "./hook-socket.ts";
import { createHookStates, type HookStates } from "./hook-states.ts";
import { hookedAgents } from "./hooked-agents.ts";
import { addLiveText } from "./live-text/add-live-text.ts";
import { createLiveTexts } from "./live-text/live-texts.ts";
import { readAskedEvent } from "./opencode/asked-event.ts";
import { openCodeAttachment } from "./opencode/attachment.ts";
import { createOpenCodeStreams } from "./opencode/streams.ts";
import { InputRefused, type TerminalInput } from "./terminal-input.ts";
import type { HookConnection, TerminalRequest } from "./terminal-request.ts";

/** The agents' own folders. */
export interface AgentFolders {
  claude_code: string;
  codex: string;
  /** Folder of opencode's configuration. */
  opencode: string;
  /** The folders with the settings of `hookedAgents`, by agent id. */
  hooked: Readonly<Record<string, string>>;
}

/** The connections to agents that run in terminals. */
export interface Attach {
  readonly held: HeldRequests;
  readonly attachments: ReadonlyMap<string, AgentAttachment>;
  /** The state reported by the agent's own server or its hooks, by the agent's session id. */
  stateOf(session_id: string): AgentState | undefined;
  readonly notices: readonly Notice[];
  /** Prompts for agents in terminals, each logged before it is sent. */
  readonly input: TerminalInput;
  /** Adds text that the session's agent has written but not recorded yet. */
  addLiveText(open: OpenSession): OpenSession;
  /** Starts listening to agents. Only for the daemon that has the data folder's lock. */
  listen(): Promise<void>;
  /** Attaches or detaches an agent; see `AgentAttachment`. `undefined`: unknown agent. */
  change(agent: string, change: "install" | "remove"): AgentAttachment | undefined;
  /** Calls the listener with the agent's session id when its requests or state change. */
  subscribe(listener: (session_id: string) => void): () => void;
  close(): Promise<void>;
}

/** The attachments of all agents that can be attached, by agent id. */
export function agentAttachments(
  data_dir: string,
  { claude_code, codex, opencode, hooked }: AgentFolders,
): Map<string, AgentAttachment> {
  return new Map<string, AgentAttachment>([
    ["claude-code", claudeCodeAttachment({ data_dir, config_dir: claude_code })],
    ["codex", codexAttachment({ data_dir, socket: codexSocket(codex) })],
    ["opencode", openCodeAttachment({ data_dir, config_dir: opencode })],
    ...hookedAgents.flatMap((agent): [string, AgentAttachment][] => {
      const config_dir = hooked[agent.agent];
      return config_dir === undefined ? [] : [[agent.agent, hookAttachment(agent, { data_dir, config_dir })]];
    }),
  ]);
}

const unreadableNotice = (agent: string, name: string, error: unknown): Notice => ({
  level: "warning",
  ...textFields("text", daemonText("attach_unknown", { agent: name, error: messageOf(error) })),
  ...textFields("remedy", daemonText("attach_not_answered")),
  agent,
});

const codexSocket = (folder: string): string => join(folder, "app-server-control", "app-server-control.sock");

/** Connects the agents that run in terminals. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: connects the agents in terminals: its functions are short
export function createAttach(options: {
  data_dir: string;
  folders: AgentFolders;
  /** The agents' process registries, by session. */
  readProcesses(): Promise<ReadonlyMap<string, TerminalProcess>>;
  isWatched(session_id: string): boolean;
  report(error: unknown): void;
}): Attach {
  const { data_dir, folders, report } = options;
  const attachments = agentAttachments(data_dir, folders);
  /** Attachments whose files could not be read when last looked at, by agent. */
  const unreadable = new Map<string, Notice>();
  /** Called for every session that is looked up, so errors must not end the daemon: they become notices. */
  const isAttached = (agent: string): boolean => {
    const attachment = attachments.get(agent);
    if (attachment === undefined) return false;
    try {
      const is_attached = attachment.isInstalled();
      unreadable.delete(agent);
      return is_attached;
    } catch (error) {
      unreadable.set(agent, unreadableNotice(agent, attachment.describe().name, error));
      return false;
    }
  };
  const log = createAnswerLog(data_dir);
  const held = createHeldRequests({ ...options, log, now: Date.now });
  const live_texts = createLiveTexts({ now: Date.now });
  const readMessageDisplay = createMessageDisplayReader(Date.now);
  const listeners = new Set<(session_id: string) => void>();
  const notices: Notice[] = [];
  let hook_states: HookStates | undefined;
  let hook_socket: HookSocket | undefined;
  let app_server: AppServer | undefined;

  function hold(asked: TerminalRequest, connection: HookConnection) {
    held.hold(asked, connection).catch((error: unknown) => {
      connection.release();
      report(error);
    });
  }
  const publish = (session_id: string) => {
    for (const listener of [...listeners]) listener(session_id);
  };
  held.subscribe(publish);
  const opencode = createOpenCodeStreams({
    isAttached: () => isAttached("opencode"),
    onLive: live_texts.report,
    onChange: publish,
  });
  /** The input that accepts prompts for a session, with the agent's id. */
  function inputOf(session_id: string): { agent: string; input: TerminalInput } | undefined {
    if (opencode.input.accepts(session_id)) return { agent: "opencode", input: opencode.input };
    if (app_server?.input.accepts(session_id) !== true) return undefined;
    return { agent: "codex", input: app_server.input };
  }
  /** Throws `InputRefused` if nothing accepts prompts for the session. */
  function requireInput(session_id: string): { agent: string; input: TerminalInput } {
    const reached = inputOf(session_id);
    if (reached === undefined) throw new InputRefused(daemonText("not_in_agent"));
    return reached;
  }

  function readEvent({ agent, event, pid, body }: HookEvent, connection: HookConnection) {
    const reader = hookedAgents.find((each) => each.agent === agent);
    const report = reader?.readReport?.(event, body);
    if (report !== undefined) hook_states?.report(agent, pid, report);
    const asked = reader?.readRequest?.(event, body, pid);
    if (asked === undefined) connection.release();
    else hold(asked, connection);
  }

  async function listenForHooks() {
    if (!existsSync(data_dir) || hookSocketProblem(data_dir) !== undefined) return;
    try {
      hook_states = createHookStates({ data_dir, now: Date.now, onChange: publish, report });
      hook_socket = await openHookSocket(data_dir, (body, connection, stream) => {
        if (opencode.follow(body, stream)) return;
        const event = readHookEvent(body);
        if (event !== undefined) return readEvent(event, connection);
        const lines = readMessageDisplay(body);
        for (const event of lines ?? []) live_texts.report(event);
        if (lines !== undefined) return connection.release();
        const asked = readPermissionRequest(body) ?? readElicitation(body) ?? readAskedEvent(body);
        if (asked === undefined) connection.release();
        else hold(asked, connection);
      });
      // Update installed files to this version.
      for (const [agent, attachment] of attachments)
        if (agent !== "codex" && isAttached(agent)) attachment.install();
    } catch (error) {
      notices.push(
        noticeOf(
          "warning",
          daemonText("terminals_not_answered", { error: messageOf(error) }),
          daemonText("free_space_restart"),
        ),
      );
    }
  }

  return {
    held,
    attachments,
    stateOf: (session_id) =>
      app_server?.states.get(session_id) ?? opencode.stateOf(session_id) ?? hook_states?.get(session_id),
    get notices() {
      // The user may have made the files readable.
      for (const agent of unreadable.keys()) isAttached(agent);
      return [...notices, ...unreadable.values()];
    },
    input: {
      accepts: (session_id) => inputOf(session_id) !== undefined,
      async prompt(session_id, text) {
        const reached = requireInput(session_id);
        log.appendInput({ at: Date.now(), agent: reached.agent, session_id, prompt: text });
        await reached.input.prompt(session_id, text);
      },
      async stop(session_id) {
        const reached = requireInput(session_id);
        log.appendInput({ at: Date.now(), agent: reached.agent, session_id });
        await reached.input.stop(session_id);
      },
    },
    addLiveText: (open) => addLiveText(open, live_texts),
    async listen() {
      app_server = followAppServer({
        socket: codexSocket(folders.codex),
        mayAnswer: () => isAttached("codex"),
        onStates: (threads) => threads.forEach(publish),
        onRequest: hold,
        onLive: live_texts.report,
      });
      await listenForHooks();
    },
    change(agent, change) {
      const attachment = attachments.get(agent);
      attachment?.[change]();
      app_server?.refresh();
      return attachment;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      app_server?.close();
      held.close();
      hook_states?.close();
      live_texts.close();
      await hook_socket?.close();
    },
  };
}
