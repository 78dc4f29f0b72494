import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { type PermissionRule, permissionRule } from "../agent/permissions.ts";
import { asObject, type JsonObject, messageOf } from "../model/narrow.ts";
import { apiProtocols, providers as knownProviders } from "../providers/index.ts";
import type { Notice } from "../store/contract.ts";

/** A provider of one's own, or what is different about one that is known by this id. */
const providerConfig = z.strictObject({
  title: z.string().optional(),
  wire: z.enum(apiProtocols.map(({ wire }) => wire)).optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  /** The environment variable that holds the key. */
  key_variable: z.string().min(1).optional(),
  /** Its models' ids, first the one that is used where none is named. */
  models: z.array(z.string().min(1)).optional(),
});
export type ProviderConfig = z.infer<typeof providerConfig>;

/** An agent that speaks the Agent Client Protocol on its standard streams. */
const agentConfig = z.strictObject({
  title: z.string().optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Added to the daemon's own environment. */
  env: z.record(z.string(), z.string()).default({}),
  /** The id of the login to use, where the agent wants one named (Gemini CLI, Qwen Code). */
  auth_method: z.string().min(1).optional(),
});
export type AgentConfig = z.infer<typeof agentConfig>;

/** `type` says what the fields tell anyway: other tools' files have it. */
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

/** Where what needs attention is posted to. */
const webhookConfig = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  of: z.enum(["waiting", "all"]).default("waiting"),
});

/** The provider that plays scripts: nothing of it can be configured. */
const SCRIPTED = "scripted";

const SECTIONS = ["providers", "agents", "mcp_servers", "rules", "answer_within_minutes", "webhook"];

/** What the operator configures: `config.json` in the data folder. */
export interface Config {
  providers: ReadonlyMap<string, ProviderConfig>;
  /** All that `providers` says, also where it cannot be read: what is an environment variable's name may be that of a key's. */
  provider_texts: ReadonlySet<string>;
  agents: ReadonlyMap<string, AgentConfig>;
  mcp_servers: ReadonlyMap<string, McpServerConfig>;
  /** See `PermissionRule`. `undefined`: they cannot be read, and nothing may run that they might forbid. */
  rules: readonly PermissionRule[] | undefined;
  /** How long approvals and questions wait. Absent: for ever. */
  answer_within_minutes?: number;
  webhook?: z.output<typeof webhookConfig>;
  /** What is wrong with the file, by field: everything else in it holds. */
  notices: readonly Notice[];
}

/** Reads `config.json` of a data folder. A missing one configures nothing; mistakes in it are told, never thrown. */
export function readConfig(data_dir: string): Config {
  const file = join(data_dir, "config.json");
  const notices: Notice[] = [];
  const reportMistake = (field: string, message: string) =>
    notices.push({
      level: "error",
      text: `${file}: ${field === "" ? "" : `${field}: `}${message.replace(/\.$/, "")}.`,
      remedy: "Correct the file, then start Verbatim again.",
    });

  const value = readObject(file, reportMistake);
  for (const name of Object.keys(value ?? {})) {
    if (!SECTIONS.includes(name))
      reportMistake(name, `there is no such setting; there are ${SECTIONS.join(", ")}`);
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
      reportMistake(section, "this is no object");
      return found;
    }
    for (const [id, entry] of Object.entries(given)) {
      if (!/^[\w.-]{1,64}$/.test(id)) {
        reportMistake(`${section}.${id}`, "a name has letters, digits, dots, dashes and underscores");
        continue;
      }
      if (isTaken(id)) {
        reportMistake(`${section}.${id}`, "a provider has this name already: choose another one");
        continue;
      }
      const parsed = schema.safeParse(entry);
      if (parsed.success) found.set(id, parsed.data);
      else reportIssues(`${section}.${id}`, parsed.error);
    }
    return found;
  }

  function reportIssues(path: string, error: z.ZodError) {
    for (const issue of error.issues) reportMistake([path, ...issue.path].join("."), issue.message);
  }

  function rulesOf(): readonly PermissionRule[] | undefined {
    // A file that cannot be read may have rules.
    if (value === undefined) return undefined;
    const parsed = z.array(permissionRule).default([]).safeParse(value.rules);
    if (parsed.success) return parsed.data;
    reportIssues("rules", parsed.error);
    return undefined;
  }

  const minutes = z.number().positive().optional().safeParse(value?.answer_within_minutes);
  if (!minutes.success) reportIssues("answer_within_minutes", minutes.error);
  const webhook = webhookConfig.optional().safeParse(value?.webhook);
  if (!webhook.success) reportIssues("webhook", webhook.error);
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
    notices,
  };
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** `undefined`: it cannot be read. */
function readObject(
  file: string,
  reportMistake: (field: string, message: string) => void,
): JsonObject | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    reportMistake("", `it cannot be read: ${messageOf(error)}`);
    return undefined;
  }
  try {
    const value = asObject(JSON.parse(text));
    if (value) return value;
    reportMistake("", "it is no JSON object");
  } catch (error) {
    reportMistake("", `it is no JSON: ${messageOf(error)}`);
  }
  return undefined;
}

/**
 * The keys of `keys.json` in a data folder, by provider. A file that others can read is refused: its keys are to be taken
 * for known.
 */
export function readKeys(data_dir: string): {
  keys: ReadonlyMap<string, string>;
  notices: readonly Notice[];
} {
  const file = join(data_dir, "keys.json");
  const keys = new Map<string, string>();
  const refused = (text: string, remedy: string) => ({
    keys: new Map<string, string>(),
    notices: [{ level: "error" as const, text, remedy }],
  });
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return { keys, notices: [] };
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
    return refused(
      `${file} can be read by others: no key in it is used.`,
      `Run chmod 600 ${file}, and get new keys if others may have read these.`,
    );
  }
  let value: JsonObject | undefined;
  try {
    value = asObject(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // What is wrong with it could quote a key.
    return refused(`${file} cannot be read as JSON.`, 'Write it as {"anthropic": "sk-…"}.');
  }
  if (!value) return refused(`${file} is no JSON object.`, 'Write it as {"anthropic": "sk-…"}.');
  const notices: Notice[] = [];
  for (const [id, key] of Object.entries(value)) {
    if (typeof key === "string" && key.trim() !== "") keys.set(id, key.trim());
    else notices.push({ level: "error", text: `${file}: ${id}: this is no key.` });
  }
  return { keys, notices };
}
