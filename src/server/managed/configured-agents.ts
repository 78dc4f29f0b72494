import { constants } from "node:fs";
import { mkdir, open, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createAcpAgent } from "../../agent/acp/acp-agent.ts";
import { type AcpProgram, listPastSessions, readPastSession } from "../../agent/acp/past-sessions.ts";
import type { McpConnections } from "../../agent/mcp.ts";
import { commandEnvironment } from "../../agent/processes.ts";
import type { Tool } from "../../agent/tool.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import type { CodedText } from "../../model/text/catalog.ts";
import { CodedError, titleOfError } from "../../model/text/coded-error.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import { textFields } from "../../model/text/display-text.ts";
import { failureText } from "../../model/text/failure-texts.ts";
import type { Unavailable } from "../../protocol.ts";
import { createProvider, type ProviderEntry, providers } from "../../providers/index.ts";
import { knownModels } from "../../providers/known-models.ts";
import { findModel, priceOf } from "../../providers/models.ts";
import { createScriptedProvider } from "../../providers/scripted/provider.ts";
import { scripts } from "../../providers/scripted/scripts/index.ts";
import { type Notice, noticeOf } from "../../store/contract.ts";
import type { AgentConfig, Config, ProviderConfig } from "../config.ts";
import type { AgentKind, Agents } from "./agents.ts";
import { installedAgents } from "./installed-agents.ts";
import { imageOf } from "./record/raw-events.ts";

interface ConfiguredAgentsOptions {
  config: Config;
  /** API keys by provider. Never passed to agent processes, stored or shown. */
  keys: ReadonlyMap<string, string>;
  environment: Readonly<Record<string, string | undefined>>;
  /** Working folder of the MCP servers. */
  cwd: string;
  /** Folder in which scripts find their files. */
  playground: string;
  /** The data folder. Images that tools stored in it are sent to models. */
  folder: string;
  /** Whether a process has an agent's session open, by the agent's session id. Absent: no agent is asked. */
  isOpenElsewhere?(session_id: string): Promise<boolean>;
}

/** The agents, and resources that they share. */
interface ConfiguredAgents extends Agents {
  /** Problems with the configuration. */
  readonly notices: readonly Notice[];
  /** Stops the MCP servers that were started. */
  close(): Promise<void>;
}

/** The agents that sessions can be started with: Verbatim's own loop on each provider, and the configured agents. */
export function configuredAgents(options: ConfiguredAgentsOptions): ConfiguredAgents {
  const { config, environment } = options;
  const entries = providerEntries(config.providers);
  const secret = new Set(providers.flatMap(({ key_variables }) => key_variables));
  const own = commandEnvironment(
    Object.fromEntries(
      Object.entries(environment).filter(([name]) => !secret.has(name) && !config.provider_texts.has(name)),
    ),
  );
  let servers: McpConnections | undefined;
  let connecting: Promise<McpConnections> | undefined;
  /** MCP servers are started, and the tools loaded, for the first agent that can call them. */
  const tools = async (): Promise<readonly Tool[]> => {
    const { createTools } = await import("../../agent/tools/index.ts");
    const own_tools = createTools({ environment: own, rules: () => config.rules ?? [] });
    if (config.mcp_servers.size === 0) return own_tools;
    const isFirst = connecting === undefined;
    connecting ??= import("../../agent/mcp.ts").then(({ connectMcp }) =>
      connectMcp(Object.fromEntries(config.mcp_servers), { cwd: options.cwd, environment: own }),
    );
    servers = await connecting;
    if (!isFirst) await servers.retry();
    return [...own_tools, ...servers.tools];
  };

  const kinds = [
    ...entries.map((entry) => providerKind(entry, options, tools)),
    scriptedKind(options, tools),
    ...[...config.agents].map(([id, agent]) => acpKind(id, agent, options, own)),
    ...installedKinds(options, own),
  ];
  const by_id = new Map(kinds.map((kind) => [kind.entry.id, kind]));
  return {
    list: () => [...by_id.values()],
    find: (id) => by_id.get(id),
    get notices() {
      return (servers?.problems ?? []).map(
        ({ server, message }): Notice =>
          noticeOf(
            "warning",
            daemonText("mcp_server_unusable", { server, error: message.replace(/\.$/, "") }),
            daemonText("mcp_server_tried_again"),
          ),
      );
    },
    async close() {
      await (await connecting)?.close();
    },
  };
}

type Tools = () => Promise<readonly Tool[]>;

/** A provider with the models configured for it. */
type Entry = ProviderEntry & { readonly models?: readonly string[] };

/** The built-in providers with configured changes, and the configured ones. */
function providerEntries(configured: ReadonlyMap<string, ProviderConfig>): Entry[] {
  const known = providers.map((entry): Entry => changed(entry, configured.get(entry.id)));
  const own = [...configured]
    .filter(([id]) => !providers.some((entry) => entry.id === id))
    .map(([id, config]) =>
      changed({ id, title: id, wire: config.wire ?? "chat-completions", key_variables: [] }, config),
    );
  return [...known, ...own];
}

function changed(entry: ProviderEntry, config: ProviderConfig | undefined): Entry {
  if (!config) return entry;
  const { title, wire, base_url, key_variable, models } = config;
  return {
    ...entry,
    ...(title === undefined ? {} : { title }),
    ...(wire === undefined ? {} : { wire }),
    ...(base_url === undefined ? {} : { base_url }),
    ...(key_variable === undefined
      ? {}
      : {
          key_variables: [key_variable],
          key_help: failureText("set_key_for", {
            variable: key_variable,
            provider: title ?? entry.title,
          }),
        }),
    ...(models === undefined ? {} : { models }),
  };
}

const OF_LOOP = {
  can_steer: true,
  from_history: true,
  can_resume: true,
  can_compact: true,
  can_switch_model: true,
} as const;

function providerKind(entry: Entry, options: ConfiguredAgentsOptions, tools: Tools): AgentKind {
  const { environment, keys } = options;
  const api_key =
    entry.key_variables.map((name) => environment[name]).find((key) => key !== undefined && key !== "") ??
    keys.get(entry.id);
  const provider = createProvider(entry, {
    readImage: (image) => imageOf(options.folder, image),
    ...(api_key === undefined ? {} : { api_key }),
  });
  const known = knownModels.flatMap(({ id, provider }) => (provider === entry.id ? [id] : []));
  const first = entry.default_model === undefined ? [] : [entry.default_model];
  const named = entry.models ?? [...new Set([...first, ...known])];
  const unavailable =
    rulesUnread(options.config) ??
    (entry.base_url === undefined
      ? notUsable(
          daemonText("no_base_url", { provider: entry.title }),
          daemonText("add_base_url", { id: entry.id }),
        )
      : provider === undefined
        ? notUsable(
            daemonText("protocol_unsupported", { provider: entry.title, protocol: entry.wire }),
            daemonText("choose_provider"),
          )
        : entry.key_help !== undefined && api_key === undefined
          ? notUsable(daemonText("needs_key", { provider: entry.title }), howToSetKey(entry))
          : undefined);
  return {
    ...OF_LOOP,
    entry: {
      id: entry.id,
      title: entry.title,
      kind: "provider",
      models: named.map((id) => {
        const model = findModel(entry.id, id);
        const price = priceOf(entry.id, id);
        return {
          id,
          ...(model?.context === undefined ? {} : { context: model.context }),
          ...(price === undefined ? {} : { price: { input: price.input, output: price.output } }),
        };
      }),
      any_model: true,
      takes_images: true,
      ...(unavailable === undefined ? {} : { unavailable }),
    },
    async create({ model = named[0] }, host) {
      if (unavailable) throw new Error(`${unavailable.message} ${unavailable.remedy}`);
      if (!provider || model === undefined)
        throw new CodedError(agentTitle("choose_model", { provider: entry.title }));
      const { createLoopAgent } = await import("../../agent/loop.ts");
      return createLoopAgent({
        host,
        provider,
        model,
        tools: await tools(),
        rules: [...(options.config.rules ?? [])],
        contextLimit: (of) => findModel(entry.id, of)?.context,
      });
    },
  };
}

/** If the rules cannot be read, nothing that they may forbid is run. */
function rulesUnread({ rules }: Config) {
  if (rules !== undefined) return undefined;
  return notUsable(daemonText("rules_unreadable"), daemonText("fix_and_restart"));
}

function howToSetKey({ id, title, key_variables: [variable = ""], key_help }: Entry): CodedText {
  const source = key_help?.params?.place;
  return typeof source === "string"
    ? daemonText("set_key_from_or_write", { variable, source, id })
    : daemonText("set_key_for_or_write", { variable, provider: title, id });
}

const notUsable = (message: CodedText, remedy: CodedText): Unavailable => ({
  ...textFields("message", message),
  ...textFields("remedy", remedy),
});

function scriptedKind(options: ConfiguredAgentsOptions, tools: Tools): AgentKind {
  const provider = createScriptedProvider({ readFile: readRegularFile });
  const unavailable = rulesUnread(options.config);
  const [first = "hello"] = scripts.keys();
  return {
    ...OF_LOOP,
    entry: {
      id: provider.id,
      title: provider.title,
      kind: "provider",
      models: [...scripts].map(([id, { title }]) => ({ id, title })),
      any_model: true,
      takes_images: true,
      scripted: true,
      cwd: options.playground,
      ...(unavailable === undefined ? {} : { unavailable }),
    },
    problemOf: (model) => provider.load(model).then(() => undefined, titleOfError),
    async create({ model = first }, host) {
      if (unavailable) throw new Error(`${unavailable.message} ${unavailable.remedy}`);
      if (host.cwd === options.playground) await writeFiles(options.playground, scripts.get(model)?.files);
      const rules = [...(options.config.rules ?? [])];
      const { createLoopAgent } = await import("../../agent/loop.ts");
      return createLoopAgent({ host, provider, model, tools: await tools(), rules });
    },
  };
}

/** Reads a regular file only: reading a pipe without a writer would block one of Node's few threads forever. */
async function readRegularFile(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!(await handle.stat()).isFile()) throw new Error("it is not a regular file");
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** Writes the files of a script in their initial state. */
async function writeFiles(folder: string, files: Readonly<Record<string, string>> = {}): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

/** Agents that are installed but not configured. */
function installedKinds(
  options: ConfiguredAgentsOptions,
  environment: Readonly<Record<string, string>>,
): AgentKind[] {
  const { agents } = options.config;
  const configured = new Set([...agents.values()].map(({ command }) => basename(command)));
  return installedAgents(environment.PATH)
    .filter(({ id, command }) => !agents.has(id) && !configured.has(basename(command)))
    .map(({ id, title, command, args, login, missing }) => {
      const kind = acpKind(id, { title, command, args, env: {}, login }, options, environment);
      if (missing === undefined) return kind;
      return {
        ...kind,
        entry: { ...kind.entry, unavailable: missing },
        create() {
          throw new Error(`${missing.message} ${missing.remedy}`);
        },
      };
    });
}

function acpKind(
  id: string,
  agent: AgentConfig & { login?: string },
  { config, isOpenElsewhere, cwd: folder }: ConfiguredAgentsOptions,
  environment: Readonly<Record<string, string>>,
): AgentKind {
  const title = agent.title ?? id;
  const program: AcpProgram = {
    command: agent.command,
    args: agent.args,
    env: { ...environment, ...agent.env },
    label: title,
    ...(agent.auth_method === undefined ? {} : { auth_method: agent.auth_method }),
    ...(agent.login === undefined ? {} : { login: agent.login }),
  };
  return {
    can_steer: false,
    from_history: false,
    can_resume: false,
    can_compact: false,
    can_switch_model: true,
    entry: { id, title, kind: "acp", models: [], any_model: true, takes_images: true },
    past: {
      list: (options, signal) => listPastSessions(program, { folder, ...options }, signal),
      read: (options, signal) => readPastSession(program, options, signal),
    },
    create({ model }, host) {
      const made = createAcpAgent({
        host,
        ...program,
        ...(isOpenElsewhere && { isOpenElsewhere }),
        mcp_servers: [...config.mcp_servers].map(([name, server]) =>
          "url" in server
            ? { type: "http", name, url: server.url, headers: pairs(server.headers) }
            : { name, command: server.command, args: server.args, env: pairs(server.env) },
        ),
      });
      if (model !== undefined) made.setModel?.(model);
      return made;
    },
  };
}

function pairs(values: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
