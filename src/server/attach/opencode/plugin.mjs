// Installed by Verbatim into opencode's plugin folder. Sends opencode's requests and live text to Verbatim's daemon, and returns
// answers and prompts. opencode never waits for the plugin: without the daemon, or after any error, it works as if the plugin
// were not installed.
import { connect } from "node:net";

const SOCKET = "VERBATIM_SOCKET";
/** Interval between connection attempts, in milliseconds. */
const RETRY_MS = 2_000;
/** Maximum number of unsent bytes. If the daemon reads too slowly, the connection is closed. */
const MAX_UNSENT = 4 * 1024 * 1024;

export const Verbatim = async ({ client }) => {
  // The daemon handles its own sessions itself.
  if (process.env.VERBATIM_AGENT) return {};
  /** Connections to the daemon, by request id. */
  const open = new Map();
  /** The connection for live text and prompts. */
  let stream;
  /** The sessions of this process, with the last reported status: `busy`, also while it waits, `retry` or `idle`. */
  const sessions = new Map();

  const post = ({ url, body }) =>
    client._client.post({ url, body, headers: { "content-type": "application/json" } });

  /** A connection to the daemon: each line that it writes is passed to `onLine`. */
  function dial(hello, onLine, onEnd) {
    const socket = connect(SOCKET);
    let received = "";
    const end = () => {
      onEnd(socket);
      socket.destroy();
    };
    socket.setEncoding("utf8");
    socket.on("error", end);
    socket.on("close", end);
    socket.write(`${JSON.stringify({ agent: "opencode", ...hello })}\n`);
    socket.on("data", (chunk) => {
      received += chunk;
      const lines = received.split("\n");
      received = lines.pop() ?? "";
      try {
        for (const line of lines) if (line !== "") onLine(JSON.parse(line), end);
      } catch {
        end();
      }
    });
    return socket;
  }

  function ask(type, properties) {
    const { id } = properties;
    const socket = dial(
      { type, properties },
      (answer, end) => {
        end();
        post(answer).catch(() => {});
      },
      () => open.delete(id),
    );
    open.set(id, socket);
  }

  /** Runs the daemon's request, a prompt or a stop, and reports the outcome. */
  async function run({ id, ...call }) {
    let problem;
    try {
      const { error } = await post(call);
      if (error !== undefined) problem = typeof error === "string" ? error : JSON.stringify(error);
    } catch (error) {
      problem = String(error);
    }
    stream?.write(`${JSON.stringify({ type: "reply", properties: { id, problem } })}\n`);
  }

  const send = (type, properties) => {
    if (stream === undefined) return;
    if (stream.writableLength > MAX_UNSENT) stream.destroy();
    else stream.write(`${JSON.stringify({ type, properties })}\n`);
  };

  function reach() {
    if (stream !== undefined || sessions.size === 0) return;
    stream = dial(
      { type: "stream" },
      (call) => void run(call),
      (socket) => {
        if (stream === socket) stream = undefined;
      },
    );
    stream.unref();
    for (const [sessionID, status] of sessions) {
      send("session.updated", { sessionID });
      if (status !== undefined) send("session.status", { sessionID, status });
    }
  }
  setInterval(reach, RETRY_MS).unref();

  function tell(type, properties) {
    const { sessionID } = properties;
    if (sessionID === undefined) return;
    const is_new = !sessions.has(sessionID);
    if (type === "session.deleted") sessions.delete(sessionID);
    else {
      const status = type === "session.idle" ? "idle" : properties.status?.type;
      sessions.set(sessionID, status ?? sessions.get(sessionID));
    }
    if (is_new) reach();
    const what = forwardedFields(type, properties);
    if (what !== undefined) send(type, { sessionID, ...what });
  }

  return {
    event: async ({ event }) => {
      try {
        const { type, properties } = event;
        if (type === "permission.asked" || type === "question.asked") ask(type, properties);
        // Answered or withdrawn: the daemon sees the connection close.
        else if (/^(permission|question)\.(replied|rejected)$/.test(type))
          open.get(properties.requestID ?? properties.permissionID ?? properties.id)?.destroy();
        else tell(type, properties);
      } catch {}
    },
  };
};

/** The fields of an event that the daemon needs; `undefined`: the event is not sent. Outputs of tools are in opencode's store. */
function forwardedFields(type, { info, part, partID, field, delta, status }) {
  switch (type) {
    case "message.updated":
      return { info: { id: info?.id, role: info?.role } };
    case "message.part.updated":
      return part?.type === "text" || part?.type === "reasoning" ? { part } : undefined;
    case "message.part.delta":
      return { partID, field, delta };
    case "session.status":
      return { status: status?.type };
    case "session.updated":
    case "session.deleted":
    case "session.idle":
    case "session.error":
      return {};
  }
}
