// Plays the agent's side of a recorded Agent Client Protocol session on standard streams.
//
//   node player.mjs RECORDING.jsonl [ADDRESS]
//
// Each line of a recording is a JSON object. {"from": "agent", "message": JSON-RPC} is sent; {"from": "client", …} is awaited, in
// any order; when the player waits for a cancel, it notifies ADDRESS. {"do": …} is another action:
//   {"do": "stderr", "text"}, {"do": "print", "text"}, {"do": "exit", "code"}
//   {"do": "await", "path"}: waits until that file exists
//   {"do": "echo"}: answers the next prompt with itself, as JSON
//   {"do": "servers"}: with the MCP servers that the session was opened with
//   {"do": "capabilities"}: with what the client announced
//   {"do": "serve", "routes": [{"method", "params"?, "says": [JSON-RPC]}]}: from here on, the first route with its method and params
//     answers each request; its results and errors get the id of the request
//   {"do": "reply", "id", "sessionId"}: prints the client's reply to that request, as JSON
import { existsSync, readFileSync, writeSync } from "node:fs";

const [recording = "", address] = process.argv.slice(2);
const lines = readFileSync(recording, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line));

/** Requests of the recorder that our client does not make, and their answers. */
const NOT_OURS = new Set(["session/set_mode", "no/such_method", ...(address ? ["session/list"] : [])]);

/** Methods that the recorded agent never received are unknown to it. */
const known = new Set([
  "session/prompt",
  ...lines.flatMap((line) => line.routes?.map(({ method }) => method) ?? [line.message?.method]),
]);

const received = [];
let wake = () => {};
let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const parts = (rest + text).split("\n");
  rest = parts.pop() ?? "";
  for (const part of parts) {
    if (part === "") continue;
    const message = JSON.parse(part);
    const isUnknown = message.id !== undefined && message.method !== undefined && !known.has(message.method);
    if (!isUnknown) received.push(message);
    else say({ jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Method not found" } });
  }
  wake();
});
process.stdin.on("end", () => process.exit(0));

async function waitFor(isIt) {
  for (;;) {
    const index = received.findIndex(isIt);
    if (index >= 0) return received.splice(index, 1)[0];
    await new Promise((resolve) => {
      wake = resolve;
    });
  }
}

/** The recorded id of a request → its id in this run. */
const ids = new Map();
const skipped = new Set();
/** Sessions that only the recorder opened. */
const foreign = new Set();
let running;
let loads = 0;
let servers;
let capabilities;

for (const line of lines) {
  if (line.do === "stderr") writeSync(2, `${line.text}\n`);
  else if (line.do === "print") writeSync(1, `${line.text}\n`);
  else if (line.do === "exit") process.exit(line.code);
  else if (line.do === "await") {
    while (!existsSync(line.path)) await new Promise((resolve) => setTimeout(resolve, 10));
  } else if (line.do === "echo" || line.do === "servers" || line.do === "capabilities") {
    const { id, params } = await waitFor((message) => message.method === "session/prompt");
    const said = { echo: params.prompt, servers, capabilities };
    sayText(params.sessionId, JSON.stringify(said[line.do]));
    say({ jsonrpc: "2.0", id, result: { stopReason: "end_turn" } });
  } else if (line.do === "serve") {
    for (;;) {
      const { id, method, params } = await waitFor((message) => message.method !== undefined);
      const route = line.routes.find((one) => one.method === method && isPartOf(one.params ?? {}, params));
      for (const message of route?.says ?? [])
        say({ jsonrpc: "2.0", ...message, ...(message.method === undefined && { id }) });
      if (route === undefined && id !== undefined)
        say({
          jsonrpc: "2.0",
          id,
          error: { code: -32602, message: `Invalid params: ${JSON.stringify(params)}` },
        });
    }
  } else if (line.do === "reply") {
    const { result, error } = await waitFor(
      (message) => message.method === undefined && message.id === line.id,
    );
    sayText(line.sessionId, JSON.stringify(result ?? error));
  } else if (line.from === "client") {
    const { id, method } = line.message;
    if (method === undefined) {
      await waitFor((message) => message.method === undefined && message.id === id);
    } else if (id === undefined) {
      // The recorder cancelled by a timer, and once after the prompt had been answered.
      if (method === "session/cancel" && running === undefined) continue;
      if (address !== undefined) await fetch(`${address}/cancel`);
      await waitFor((message) => message.method === method);
    } else {
      const isSecondLoad = method === "session/load" && loads > 0;
      if (method === "session/load") loads += 1;
      if (NOT_OURS.has(method) || isSecondLoad) {
        skipped.add(id);
        if (isSecondLoad) foreign.add(line.message.params.sessionId);
        continue;
      }
      const message = await waitFor((candidate) => candidate.method === method);
      ids.set(id, message.id);
      servers = message.params?.mcpServers ?? servers;
      capabilities = message.params?.clientCapabilities ?? capabilities;
      if (method === "session/prompt") running = id;
    }
  } else {
    const { id, method } = line.message;
    if (foreign.has(line.message.params?.sessionId)) continue;
    if (method !== undefined || id === undefined) say(line.message);
    else if (!skipped.has(id)) {
      if (running === id) running = undefined;
      say({ ...line.message, id: ids.get(id) });
    }
  }
}

/** Whether the params have these values. `null`: they have none. */
function isPartOf(wanted, params) {
  return Object.entries(wanted).every(
    ([name, value]) => JSON.stringify(params?.[name] ?? null) === JSON.stringify(value),
  );
}

function sayText(sessionId, text) {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
  say({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } });
}

function say(message) {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      // The pipe is full: the reader is slower.
      if (error.code !== "EAGAIN") throw error;
    }
  }
}
