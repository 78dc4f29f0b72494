// A server for tests, made with the protocol's own SDK: over standard input and output, or (`http`) on a port that it prints.
// `refuse` answers the request for its tools with an error, `mislist` with a value that is not a list.
import { createServer } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const object = { type: "object", properties: {} };

const tools = [
  {
    name: "add",
    description: "Adds two numbers.",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  },
  { name: "picture", inputSchema: object, annotations: { readOnlyHint: true } },
  { name: "fail", inputSchema: object },
  { name: "slow", inputSchema: object },
  { name: "huge", inputSchema: object },
  { name: "long", inputSchema: object },
  { name: "die", inputSchema: object },
  { name: "nonsense", inputSchema: object },
  { name: "environment", inputSchema: object },
  { name: "plain", inputSchema: { type: "object" } },
  {
    name: "either",
    inputSchema: {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
      oneOf: [
        {
          properties: { kind: { const: "file" }, path: { type: "string" } },
          required: ["kind", "path"],
        },
        { $ref: "#/$defs/page" },
      ],
      allOf: [{ properties: { depth: { type: "number" } }, required: ["depth"] }, { $ref: "#/$defs/loop" }],
      not: { required: ["path", "url"] },
      $defs: {
        page: {
          properties: { kind: { const: "page" }, url: { type: "string" } },
          required: ["kind", "url"],
        },
        loop: { allOf: [{ $ref: "#/$defs/loop" }] },
      },
    },
  },
  // Its result does not match its own schema, and the schema's pattern would never end.
  {
    name: "liar",
    inputSchema: object,
    outputSchema: {
      type: "object",
      properties: { x: { type: "string", pattern: "^(a+)+$" } },
      required: ["y"],
    },
  },
];

function answer(name, input) {
  switch (name) {
    case "add":
      return {
        content: [{ type: "text", text: String(input.a + input.b) }],
        structuredContent: { sum: input.a + input.b },
      };
    case "picture":
      return {
        content: [
          { type: "image", data: PIXEL, mimeType: "image/png" },
          { type: "image", data: "PHN2Zz4=", mimeType: "image/png" },
          { type: "text", text: "a pixel" },
          { type: "resource_link", uri: "file:///notes.md", name: "notes" },
        ],
      };
    case "fail":
      return { content: [{ type: "text", text: "no such city" }], isError: true };
    case "slow":
      return new Promise(() => {});
    case "huge":
      return { content: [{ type: "text", text: "x".repeat(20_000_000) }] };
    case "long":
      return { content: [{ type: "text", text: "y".repeat(200_000) }] };
    case "die":
      process.stderr.write("out of cheese\n");
      return process.exit(7);
    case "environment":
      return { content: [{ type: "text", text: JSON.stringify(process.env) }] };
    case "liar":
      return { content: [], structuredContent: { x: `${"a".repeat(40)}b` } };
    default:
      throw new Error(`no tool ${name}`);
  }
}

function make() {
  const server = new Server({ name: "test", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => {
    if (process.argv[2] === "refuse") throw new Error("GITHUB_TOKEN is missing");
    return { tools };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    answer(params.name, params.arguments ?? {}),
  );
  return server;
}

if (process.argv[2] === "http") {
  const http = createServer(async (request, response) => {
    if (request.headers["x-key"] !== "let me in") return void response.writeHead(401).end();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await make().connect(transport);
    await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () => console.log(http.address().port));
} else {
  const transport = new StdioServerTransport();
  if (process.argv[2] === "refuse") process.stderr.write("reading the environment\n");
  await make().connect(transport);
  process.stdout.write("a line of log that is no message\n");
  // Bypasses the SDK, which would not send a tool without a schema or an invalid result.
  const send = transport.send.bind(transport);
  const asked = new Set();
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if (message.params?.name === "nonsense") asked.add(message.id);
    receive(message, extra);
  };
  transport.send = (message) => {
    if (asked.has(message.id))
      return send({ jsonrpc: "2.0", id: message.id, result: { content: "seventeen" } });
    if (message.result?.tools && process.argv[2] === "mislist") message.result.tools = "none";
    else if (message.result?.tools)
      message.result.tools = [
        { name: "broken" },
        ...message.result.tools,
        { name: "add", inputSchema: object },
      ];
    return send(message);
  };
}
