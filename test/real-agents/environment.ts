import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Folders of the agents under test. */
export interface AgentFolders {
  /** `HOME` */
  path: string;
  /** `CLAUDE_CONFIG_DIR` */
  claude: string;
  /** `CODEX_HOME` */
  codex: string;
}

const ORDER_SERVER = join(import.meta.dirname, "order-server.ts");

const API_KEY = "scripted-model-needs-no-key";

/**
 * Configures the agents for a scripted model on loopback, and returns their environment. They ask before they run a command, as they
 * do for most people, and skip the questions of a first start. `cwds`: the folders they work in.
 */
export function configureAgents(
  folders: AgentFolders,
  origin: string,
  ...cwds: readonly string[]
): NodeJS.ProcessEnv {
  writeFileSync(
    join(folders.claude, ".claude.json"),
    JSON.stringify({
      hasCompletedOnboarding: true,
      theme: "dark",
      mcpServers: { shop: { type: "stdio", command: process.execPath, args: [ORDER_SERVER] } },
      customApiKeyResponses: { approved: [API_KEY.slice(-20)], rejected: [] },
      projects: Object.fromEntries(
        cwds.map((cwd) => [cwd, { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }]),
      ),
    }),
  );
  writeFileSync(
    join(folders.codex, "config.toml"),
    [
      'model = "gpt-5-codex"',
      'model_provider = "local"',
      'approval_policy = "on-request"',
      'sandbox_mode = "workspace-write"',
      "[model_providers.local]",
      'name = "local"',
      `base_url = "${origin}/v1"`,
      'env_key = "LOCAL_KEY"',
      'wire_api = "responses"',
      ...cwds.flatMap((cwd) => [`[projects.${JSON.stringify(cwd)}]`, 'trust_level = "trusted"']),
      "",
    ].join("\n"),
  );
  const opencode = join(folders.path, "opencode.json");
  writeFileSync(
    opencode,
    JSON.stringify({
      model: "local/m",
      small_model: "local/m",
      permission: { bash: "ask" },
      autoupdate: false,
      provider: {
        local: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `${origin}/v1`, apiKey: API_KEY },
          models: { m: { tool_call: true } },
        },
      },
    }),
  );
  const pi = join(folders.path, ".pi/agent");
  mkdirSync(pi, { recursive: true });
  writeFileSync(
    join(pi, "models.json"),
    JSON.stringify({
      providers: {
        local: {
          baseUrl: `${origin}/v1`,
          api: "openai-completions",
          apiKey: API_KEY,
          compat: { supportsDeveloperRole: false },
          models: [{ id: "m", reasoning: true, contextWindow: 200_000, maxTokens: 8_000 }],
        },
      },
    }),
  );
  const grok = join(folders.path, ".grok");
  mkdirSync(grok, { recursive: true });
  writeFileSync(
    join(grok, "config.toml"),
    [
      "[models]",
      'default = "local"',
      "[model.local]",
      'model = "m"',
      `base_url = "${origin}/v1"`,
      'env_key = "LOCAL_KEY"',
      'api_backend = "chat_completions"',
      "context_window = 200000",
      "[cli]",
      "auto_update = false",
      "use_leader = false",
      "",
    ].join("\n"),
  );
  return {
    PATH: process.env.PATH,
    HOME: folders.path,
    CLAUDE_CONFIG_DIR: folders.claude,
    CODEX_HOME: folders.codex,
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_API_KEY: API_KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    LOCAL_KEY: API_KEY,
    OPENCODE_CONFIG: opencode,
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    // A fork of opencode.
    KILO_CONFIG: opencode,
    KILO_DISABLE_MODELS_FETCH: "1",
    PI_OFFLINE: "1",
    KIMI_MODEL_NAME: "m",
    KIMI_MODEL_API_KEY: API_KEY,
    KIMI_MODEL_PROVIDER_TYPE: "kimi",
    KIMI_MODEL_BASE_URL: `${origin}/v1`,
    KIMI_CODE_NO_AUTO_UPDATE: "1",
  };
}

/** Variables that only Qwen Code and Copilot CLI get: opencode would take them for a provider of its own. */
export const openAiEnvironment = (origin: string): NodeJS.ProcessEnv => ({
  OPENAI_API_KEY: API_KEY,
  OPENAI_BASE_URL: `${origin}/v1`,
  OPENAI_MODEL: "m",
  COPILOT_PROVIDER_BASE_URL: `${origin}/v1`,
  COPILOT_MODEL: "m",
  COPILOT_OFFLINE: "true",
});
