import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { type PermissionRule, permissionRule } from "../agent/permissions.ts";
import { asObject, type JsonObject, messageOf } from "../model/narrow.ts";
import type { OwnPrice } from "../model/prices/price-table.ts";
import type { CodedText } from "../model/text/catalog.ts";
import { daemonText } from "../model/text/daemon-texts.ts";
import { apiProtocols, providers as knownProviders } from "../providers/index.ts";
import { type Notice, noticeOf } from "../store/contract.ts";

/** A custom provider, or changes to a built-in one with this id. */
const providerConfig = z.strictObject({
  title: z.string().optional(),
  wire: z.enum(apiProtocols.map(({ wire }) => wire)).optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  /** The environment variable that contains the key. */
  key_variable: z.string().min(1).optional(),
  /** The ids of its models. The first one is the default. */
  models: z.array(z.string().min(1)).optional(),
});
export type ProviderConfig = z.infer<typeof providerConfig>;

/** An agent that uses the Agent Client Protocol on its standard streams. */
const agentConfig = z.strictObject({
  title: z.string().optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Added to the daemon's environment. */
  env: z.record(z.string(), z.string()).default({}),
  /** The id of the login method, for agents that require one (Gemini CLI, Qwen Code). */
  auth_method: z.string().min(1).optional(),
});
export type AgentConfig = z.infer<typeof agentConfig>;

/** `type` is optional here, because the other fields imply it. Configuration files of other tools have it. */
const mcpServerConfig = z.preprocess(
  (value) => {
    const given = asObject(value);
    return given ? { type: "url" in given ? "http" : "stdio", ...given } : value;
  },
  z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("stdio"),
      command: z.string().min(1),
      args: z.array(z.string()).default([]),
      env: z.record(z.string(), z.string()).default({}),
    }),
    z.strictObject({
      type: z.literal("http"),
      url: z.url({ protocol: /^https?$/ }),
      headers: z.record(z.string(), z.string()).default({}),
    }),
  ]),
);
type McpServerConfig = z.infer<typeof mcpServerConfig>;

/** Where sessions that need attention are posted. */
const webhookConfig = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  of: z.enum(["waiting", "all"]).default("waiting"),
});

const dollars = z.number().nonnegative();
const priceFields = {
  input: dollars,
  output: dollars,
  cache_read: z.exactOptional(dollars),
  cache_write: z.exactOptional(dollars),
  cache_write_1h: z.exactOptional(dollars),
};

/** A model's price in US dollars per million tokens. */
const ownPrice = z.strictObject({
  model: z.string().min(1),
  from: z.exactOptional(z.iso.date()),
  ...priceFields,
  long: z.exactOptional(z.strictObject({ above: z.number().positive(), ...priceFields })),
});

/** The provider that plays scripts. It cannot be configured. */
const SCRIPTED = "scripted";

const SECTIONS = [
  "providers",
  "agents",
  "mcp_servers",
  "rules",
  "answer_within_minutes",
  "webhook",
  "prices",
];

/** The configuration: `config.json` in the data folder. */
export interface Config {
  providers: ReadonlyMap<string, ProviderConfig>;
  /** All strings in `providers`, even if it is invalid: any of them may be the name of a key's environment variable. */
  provider_texts: ReadonlySet<string>;
  agents: ReadonlyMap<string, AgentConfig>;
  mcp_servers: ReadonlyMap<string, McpServerConfig>;
  /** See `PermissionRule`. `undefined`: they are invalid, and nothing that they may forbid is run. */
  rules: readonly PermissionRule[] | undefined;
  /** Timeout of approvals and questions. Absent: none. */
  answer_within_minutes?: number;
  webhook?: z.output<typeof webhookConfig>;
  /** Prices of models, before the list prices. */
  prices: readonly OwnPrice[];
  /** Errors in the file, by field. The rest of the file is used. */
  notices: readonly Notice[];
}

/** Reads `config.json` in a data folder. Without a file nothing is configured. Errors become notices and are never thrown. */
export function readConfig(data_dir: string): Config {
  const file = join(data_dir, "config.json");
  const notices: Notice[] = [];
  const report = (text: CodedText) => notices.push(noticeOf("error", text, daemonText("fix_and_restart")));

  const value = readObject(file, report);
  for (const name of Object.keys(value ?? {})) {
    if (!SECTIONS.includes(name))
      report(daemonText("config_unknown", { file, field: name, known: SECTIONS.join(", ") }));
  }

  function entries<Schema extends z.ZodType>(
    section: string,
    schema: Schema,
    isTaken: (id: string) => boolean = () => false,
  ): Map<string, z.output<Schema>> {
    const found = new Map<string, z.output<Schema>>();
    if (value?.[section] === undefined) return found;
    const given = asObject(value[section]);
    if (!given) {
      report(daemonText("config_no_object", { file, field: section }));
      return found;
    }
    for (const [id, entry] of Object.entries(given)) {
      if (!/^[\w.-]{1,64}$/.test(id)) {
        report(daemonText("config_name", { file, field: `${section}.${id}` }));
        continue;
      }
      if (isTaken(id)) {
        report(daemonText("config_taken", { file, field: `${section}.${id}` }));
        continue;
      }
      const parsed = schema.safeParse(entry);
      if (parsed.success) found.set(id, parsed.data);
      else reportIssues(`${section}.${id}`, parsed.error);
    }
    return found;
  }

  function reportIssues(path: string, error: z.ZodError) {
    for (const { path: place, message } of error.issues) {
      const field = [path, ...place].join(".");
      report(daemonText("config_invalid", { file, field, problem: withoutStop(message) }));
    }
  }

  function rulesOf(): readonly PermissionRule[] | undefined {
    // An invalid file may contain rules.
    if (value === undefined) return undefined;
    const parsed = z.array(permissionRule).default([]).safeParse(value.rules);
    if (parsed.success) return parsed.data;
    reportIssues("rules", parsed.error);
    return undefined;
  }

  function pricesOf(): OwnPrice[] {
    const given = value?.prices;
    if (given === undefined) return [];
    if (!Array.isArray(given)) {
      report(daemonText("config_no_list", { file, field: "prices" }));
      return [];
    }
    return given.flatMap((entry: unknown, index) => {
      const parsed = ownPrice.safeParse(entry);
      if (!parsed.success) reportIssues(`prices.${index}`, parsed.error);
      return parsed.success ? [parsed.data] : [];
    });
  }

  const minutes = z.number().positive().optional().safeParse(value?.answer_within_minutes);
  if (!minutes.success) reportIssues("answer_within_minutes", minutes.error);
  const webhook = webhookConfig.optional().safeParse(value?.webhook);
  if (!webhook.success) reportIssues("webhook", webhook.error);
  const prices = pricesOf();
  const providers = entries("providers", providerConfig, (id) => id === SCRIPTED);
  const isProvider = (id: string) =>
    id === SCRIPTED || providers.has(id) || knownProviders.some((known) => known.id === id);
  return {
    providers,
    provider_texts: new Set(textsOf(value?.providers)),
    agents: entries("agents", agentConfig, isProvider),
    mcp_servers: entries("mcp_servers", mcpServerConfig),
    rules: rulesOf(),
    ...(minutes.success && minutes.data !== undefined ? { answer_within_minutes: minutes.data } : {}),
    ...(webhook.success && webhook.data !== undefined && { webhook: webhook.data }),
    prices,
    notices,
  };
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

const withoutStop = (message: string): string => message.replace(/\.$/, "");

/** `undefined`: the file cannot be read. */
function readObject(file: string, report: (text: CodedText) => void): JsonObject | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    report(daemonText("config_unreadable", { file, error: withoutStop(messageOf(error)) }));
    return undefined;
  }
  try {
    const value = asObject(JSON.parse(text));
    if (value) return value;
    report(daemonText("config_not_object", { file }));
  } catch (error) {
    report(daemonText("config_not_json", { file, error: withoutStop(messageOf(error)) }));
  }
  return undefined;
}

/** The keys in `keys.json` of a data folder, by provider. A file that others can read is rejected, since its keys may be leaked. */
export function readKeys(data_dir: string): {
  keys: ReadonlyMap<string, string>;
  notices: readonly Notice[];
} {
  const file = join(data_dir, "keys.json");
  const keys = new Map<string, string>();
  const refused = (text: CodedText, remedy: CodedText) => ({
    keys: new Map<string, string>(),
    notices: [noticeOf("error", text, remedy)],
  });
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return { keys, notices: [] };
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
    return refused(daemonText("keys_exposed", { file }), daemonText("protect_keys", { file }));
  }
  let value: JsonObject | undefined;
  try {
    value = asObject(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // The error message could quote a key.
    return refused(daemonText("keys_not_json", { file }), daemonText("write_keys"));
  }
  if (!value) return refused(daemonText("keys_not_object", { file }), daemonText("write_keys"));
  const notices: Notice[] = [];
  for (const [id, key] of Object.entries(value)) {
    if (typeof key === "string" && key.trim() !== "") keys.set(id, key.trim());
    else notices.push(noticeOf("error", daemonText("key_invalid", { file, id })));
  }
  return { keys, notices };
}
