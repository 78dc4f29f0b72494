import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import * as z from "zod";
import type { MediaPart } from "../model/messages/part.ts";
import { messageOf } from "../model/narrow.ts";
import { imageType } from "./image-type.ts";
import { createServerProcess, type ServerProcess } from "./mcp-process.ts";
import { commandEnvironment } from "./processes.ts";
import type { Tool, ToolContext, ToolOutput } from "./tool.ts";
import { offeredSchema } from "./tool-schema.ts";
import { fileOfCall, keptFields, truncateText } from "./truncated-output.ts";

/** A configured server of the Model Context Protocol: a command or a URL. */
export type McpServer =
  | { command: string; args?: readonly string[]; env?: Readonly<Record<string, string>> }
  | { url: string; headers?: Readonly<Record<string, string>> };

/** A problem with a server, in one sentence. `server`: its name in the configuration. */
export interface McpProblem {
  server: string;
  message: string;
}

/** The running servers and their tools. */
export interface McpConnections {
  /** The tools of all reachable servers, named `mcp__SERVER__TOOL`. */
  readonly tools: readonly Tool[];
  /** Updated when a server ends later. The problems of a server are removed when it is retried. */
  readonly problems: readonly McpProblem[];
  /**
   * Retries servers that have ended or could not be reached. Resolves when their tools are available, but after `retry_within_ms`
   * at the latest. Slower servers may still become available later.
   */
  retry(): Promise<void>;
  /** Ends all servers that were started, including their child processes. */
  close(): Promise<void>;
}

export interface McpOptions {
  /** Working folder of the servers. */
  cwd: string;
  /** The daemon's environment. Servers get it without the keys of model providers, and with the `env` of their configuration. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Time limit for a server to start and list its tools, in milliseconds. */
  connect_within_ms?: number;
  /** Time after which `retry` no longer waits for a server, in milliseconds. */
  retry_within_ms?: number;
  /** Time limit of a call, in milliseconds. */
  call_within_ms?: number;
}

/** Maximum size of a server's message, in bytes. */
const MESSAGE_LIMIT = 16 * 1024 ** 2;
const TOOL_LIMIT = 500;
/** Maximum size of a structured result that is kept, as JSON, in UTF-16 code units. */
const STRUCTURED_LIMIT = 100_000;
const DESCRIPTION_LIMIT = 4_000;
const SCHEMA_LIMIT = 50_000;

// Tools and content blocks are narrowed individually, so that an invalid one does not affect the others. The SDK's own list
// methods are not used, and neither is its validation of structured results, which compiles the server's schemas and their
// regular expressions.
const listed = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const listedTool = z.looseObject({
  name: z.string().min(1).max(200),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal("object") }),
});
const called = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
const block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal("audio"), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal("resource_link"), uri: z.string(), name: z.string().optional() }),
  z.object({
    type: z.literal("resource"),
    resource: z.object({ uri: z.string(), mimeType: z.string().optional(), text: z.string().optional() }),
  }),
]);

/**
 * Connects to all servers concurrently. Never rejects: an unreachable or invalid server is added to `problems` and does not
 * affect the others.
 *
 * Every call needs approval unless a rule allows it, whatever a server says about its own tools (`readOnlyHint` is not
 * trustworthy).
 */
export async function connectMcp(
  servers: Readonly<Record<string, McpServer>>,
  options: McpOptions,
): Promise<McpConnections> {
  const { retry_within_ms = 5_000 } = options;
  const problems: McpProblem[] = [];
  const closing = new AbortController();
  const connectTo = (server: string, config: McpServer): Promise<Connection> =>
    connect(server, config, options, closing.signal, (message) => problems.push({ server, message }));
  const connections = await Promise.all(
    Object.entries(servers).map(([server, config]) => connectTo(server, config)),
  );
  let tools: readonly Tool[] = [];
  const collect = (): void => {
    const found = new Map<string, Tool>();
    for (const { server, found: its } of connections) {
      for (const tool of its) {
        const { name } = tool.definition;
        const message = `There are several tools named ${name}. The first one is used.`;
        if (!found.has(name)) found.set(name, tool);
        else if (!problems.some((known) => known.server === server && known.message === message))
          problems.push({ server, message });
      }
    }
    tools = [...found.values()];
  };
  collect();

  const renew = async (): Promise<void> => {
    await Promise.all(
      connections.map(async (connection, index) => {
        if (!connection.isOver()) return;
        // Processes that are left may hold resources that the new ones need, such as a port or a lock.
        await connection.close();
        const { server, config } = connection;
        problems.splice(0, problems.length, ...problems.filter((problem) => problem.server !== server));
        connections[index] = await connectTo(server, config);
        // Update the tools immediately, because callers may not wait for slower servers.
        collect();
      }),
    );
  };
  let renewing: Promise<void> | undefined;
  return {
    get tools() {
      return tools;
    },
    problems,
    async retry() {
      if (closing.signal.aborted || !connections.some(({ isOver }) => isOver())) return;
      renewing ??= renew().finally(() => {
        renewing = undefined;
      });
      await Promise.race([renewing, after(retry_within_ms)]);
    },
    async close() {
      closing.abort();
      await renewing;
      await Promise.all(connections.map(({ close }) => close()));
    },
  };
}

interface Connection {
  server: string;
  config: McpServer;
  found: Tool[];
  /** Whether the server has ended or could not be started. */
  isOver(): boolean;
  close(): Promise<void>;
}

async function connect(
  server: string,
  config: McpServer,
  { cwd, environment, connect_within_ms = 30_000, call_within_ms = 300_000 }: McpOptions,
  closing: AbortSignal,
  onProblem: (message: string) => void,
): Promise<Connection> {
  /** Calls that wait for a reply. */
  const waiting = new Set<AbortController>();
  const onTooLong = (error: Error): void => {
    // The discarded message may have contained a reply, for which the SDK would keep waiting.
    for (const call of waiting) call.abort(error);
  };
  const own = "command" in config ? local(config, cwd, environment) : undefined;
  const transport = own ?? ("url" in config ? remote(config, onTooLong) : undefined);
  if (transport === undefined) throw new Error("A server is either a command or an address.");
  const client = new Client(
    { name: "verbatim", version: "0.1.0" },
    {
      capabilities: {},
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  );
  let isOver = false;
  const close = async (): Promise<void> => {
    isOver = true;
    await Promise.race([client.close().catch(() => {}), after(2_000)]);
    await own?.close();
  };
  const stderr_text = (otherwise: string): string => own?.stderr_text(otherwise) ?? otherwise;
  client.onclose = () => {
    if (!isOver) onProblem(stderr_text("The connection has ended."));
    isOver = true;
  };
  const ask: Ask = async (method, params, schema, signal, timeout) => {
    if (isOver) throw new Error(`The server ${server} is no longer running. ${stderr_text("It was ended.")}`);
    const call = new AbortController();
    waiting.add(call);
    try {
      const either = AbortSignal.any([signal, call.signal]);
      return await client.request({ method, params }, schema, {
        signal: either,
        timeout,
        maxTotalTimeout: timeout,
      });
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      throw isOver && own !== undefined ? new Error(stderr_text(messageOf(error))) : error;
    } finally {
      waiting.delete(call);
    }
  };
  const grace_timer = AbortSignal.any([AbortSignal.timeout(connect_within_ms), closing]);
  try {
    grace_timer.throwIfAborted();
    await withSignal(client.connect(transport, { timeout: connect_within_ms }), grace_timer);
    const found = await listTools(server, ask, grace_timer, connect_within_ms, call_within_ms, onProblem);
    return { server, config, found, isOver: () => isOver, close };
  } catch (error) {
    if (!isOver) {
      const why =
        grace_timer.aborted || isTimeout(error)
          ? `It did not answer within ${connect_within_ms / 1_000} s.`
          : isMisread(error)
            ? "It sent an invalid reply."
            : messageOf(error);
      isOver = true;
      onProblem(stderr_text(why));
    }
    await close();
    return { server, config, found: [], isOver: () => true, close: async () => {} };
  }
}

type Ask = <Schema extends z.ZodObject>(
  method: string,
  params: Record<string, unknown>,
  schema: Schema,
  signal: AbortSignal,
  timeout: number,
) => Promise<z.infer<Schema>>;

async function listTools(
  server: string,
  ask: Ask,
  signal: AbortSignal,
  timeout: number,
  call_within_ms: number,
  onProblem: (message: string) => void,
): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  let seen = 0;
  do {
    const page = await ask("tools/list", cursor === undefined ? {} : { cursor }, listed, signal, timeout);
    for (const given of page.tools) {
      const read = listedTool.safeParse(given);
      if (!read.success) {
        onProblem(`One of its tools cannot be used: ${z.prettifyError(read.error).replace(/\s+/g, " ")}`);
      } else if (JSON.stringify(read.data.inputSchema).length > SCHEMA_LIMIT) {
        onProblem(`Its tool ${read.data.name} cannot be used: its schema is too long.`);
      } else tools.push(createMcpTool(server, read.data, ask, call_within_ms));
    }
    seen += Math.max(1, page.tools.length);
    if (page.nextCursor === cursor) break;
    cursor = page.nextCursor;
  } while (cursor !== undefined && seen < TOOL_LIMIT);
  if (cursor !== undefined && seen >= TOOL_LIMIT) onProblem(`Only its first ${TOOL_LIMIT} tools are used.`);
  return tools;
}

function createMcpTool(
  server: string,
  { name, description = "", inputSchema }: z.infer<typeof listedTool>,
  ask: Ask,
  call_within_ms: number,
): Tool {
  return {
    definition: {
      name: toolName(server, name),
      description: description.slice(0, DESCRIPTION_LIMIT),
      input_schema: offeredSchema(inputSchema),
    },
    parallel: false,
    default_decision: "ask",
    // Longer than the limit of the call itself, which has a better error message.
    time_limit_ms: call_within_ms + 5_000,
    prepare(input) {
      const given = JSON.stringify(input, null, 2);
      return {
        subject: `${server}: ${name}\n${given}`,
        target: JSON.stringify(input),
        run: (context) => callTool(server, name, input, ask, call_within_ms, context),
      };
    },
  };
}

/** A tool name that all providers accept (up to 64 of `[A-Za-z0-9_-]`). If it has to be changed, a hash makes it unique. */
function toolName(server: string, tool: string): string {
  const exact = `mcp__${server}__${tool}`;
  const plain = exact.replace(/[^\w-]/g, "_");
  if (plain === exact && exact.length <= 64) return exact;
  return `${plain.slice(0, 55)}_${createHash("sha256").update(exact).digest("hex").slice(0, 8)}`;
}

async function callTool(
  server: string,
  tool: string,
  input: Readonly<Record<string, unknown>>,
  ask: Ask,
  call_within_ms: number,
  { host, call_id, signal }: ToolContext,
): Promise<ToolOutput> {
  const about = { type: "mcp" as const, server, tool };
  let result: z.infer<typeof called>;
  try {
    const params = { name: tool, arguments: { ...input } };
    result = await ask("tools/call", params, called, signal, call_within_ms);
  } catch (error) {
    const why = signal.aborted
      ? "It was stopped."
      : isTimeout(error)
        ? `The server ${server} did not answer within ${call_within_ms / 1_000} s.`
        : isMisread(error)
          ? `The server ${server} sent an invalid reply.`
          : `The server ${server} returned an error: ${messageOf(error)}`;
    return { status: "error", output_text: why, ui_extra: about };
  }
  const texts: string[] = [];
  const parts: MediaPart[] = [];
  for (const given of result.content ?? []) {
    const read = block.safeParse(given);
    if (!read.success)
      texts.push(`[A part of the result is invalid: ${JSON.stringify(given)?.slice(0, 500)}]`);
    else if (read.data.type === "text") texts.push(read.data.text);
    else if (read.data.type === "resource_link")
      texts.push(`[${read.data.name ?? "resource"}: ${read.data.uri}]`);
    else if (read.data.type === "resource")
      texts.push(
        read.data.resource.text ?? `[${read.data.resource.uri}, ${read.data.resource.mimeType ?? "binary"}]`,
      );
    else {
      const path = fileOfCall(host, call_id, `-${parts.length}`);
      const media = await keepMedia(read.data, path);
      if (typeof media === "string") texts.push(media);
      else parts.push(media);
    }
  }
  const structured = result.structuredContent;
  const json = structured === undefined ? undefined : JSON.stringify(structured);
  if (texts.length === 0 && json !== undefined) texts.push(json);
  const said = await truncateText(texts.join("\n"), host, call_id);
  const keepsStructured = json !== undefined && json.length <= STRUCTURED_LIMIT;
  return {
    status: result.isError === true ? "error" : "success",
    output_text: said.text === "" && parts.length === 0 ? "[The tool returned nothing.]" : said.text,
    ...(parts.length === 0 ? {} : { parts }),
    ui_extra: { ...about, ...(keepsStructured ? { structured } : {}), ...keptFields(said) },
  };
}

/** Stores an image as a file. Other media and invalid images are only described in text. */
async function keepMedia(
  { type, data, mimeType }: { type: "image" | "audio"; data: string; mimeType: string },
  path: string,
): Promise<MediaPart | string> {
  const bytes = Buffer.from(data, "base64");
  const mime_type = imageType(bytes);
  if (type === "audio" || mime_type === undefined)
    return `[${mimeType.slice(0, 100)}, ${bytes.length.toLocaleString("en")} bytes, not shown]`;
  const file_path = `${path}.${mime_type.slice("image/".length)}`;
  await writeFile(file_path, bytes, { mode: 0o600 });
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { type: "image_file", file_path, mime_type, byte_size: bytes.length, sha256 };
}

function local(
  { command, args = [], env }: Extract<McpServer, { command: string }>,
  cwd: string,
  environment: McpOptions["environment"],
): ServerProcess {
  return createServerProcess({
    command,
    args,
    env: { ...commandEnvironment(environment), ...env },
    cwd,
    message_limit: MESSAGE_LIMIT,
  });
}

function remote(config: Extract<McpServer, { url: string }>, onTooLong: (error: Error) => void): Transport {
  const transport = new StreamableHTTPClientTransport(new URL(config.url), {
    requestInit: { headers: config.headers ?? {} },
    reconnectionOptions: {
      maxRetries: 2,
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
    },
    fetch: async (url, init) => bounded(await fetch(url, init), onTooLong),
  });
  // The cast is safe: the types differ only in `undefined` for absent fields, and the SDK's client accepts its own transports.
  return transport as Transport;
}

/** Aborts a response if a message in it (a line, or the whole body if it is not an event stream) exceeds the size limit. */
function bounded(response: Response, onTooLong: (error: Error) => void): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  let length = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const newline = isStream ? chunk.lastIndexOf(10) : -1;
      length = newline < 0 ? length + chunk.length : chunk.length - newline;
      if (length <= MESSAGE_LIMIT) return controller.enqueue(chunk);
      const error = new Error(`It sent a message of more than ${MESSAGE_LIMIT.toLocaleString("en")} bytes.`);
      onTooLong(error);
      controller.error(error);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}

async function withSignal<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Error("It took too long."));
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Whether this is the SDK's timeout error. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === -32001;
}

/** Whether this is an error about an invalid reply. The SDK has its own copy of zod, so the class cannot be compared. */
function isMisread(error: unknown): boolean {
  return error instanceof Error && "issues" in error && Array.isArray(error.issues);
}
