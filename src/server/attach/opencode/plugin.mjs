// Installed by Verbatim into opencode's plugin folder. Sends opencode's requests to Verbatim's daemon and returns the answers.
// opencode never waits for it: without the daemon, or on any error, only opencode's own dialog is shown.
import { connect } from "node:net";

const SOCKET = "VERBATIM_SOCKET";

export const Verbatim = async ({ client }) => {
  // The daemon handles the requests of its own sessions itself.
  if (process.env.VERBATIM_AGENT) return {};
  /** Connections to the daemon, by request id. */
  const open = new Map();

  function ask(type, properties) {
    const { id } = properties;
    const socket = connect(SOCKET);
    open.set(id, socket);
    let received = "";
    const end = () => {
      open.delete(id);
      socket.destroy();
    };
    socket.setEncoding("utf8");
    socket.on("error", end);
    socket.on("close", end);
    socket.on("connect", () => socket.write(`${JSON.stringify({ agent: "opencode", type, properties })}\n`));
    socket.on("data", (chunk) => {
      received += chunk;
      const lines = received.split("\n");
      received = lines.pop() ?? "";
      const answer = lines.find((line) => line !== "");
      if (answer === undefined) return;
      const { url, body } = JSON.parse(answer);
      end();
      client._client.post({ url, body, headers: { "content-type": "application/json" } }).catch(() => {});
    });
  }

  return {
    event: async ({ event }) => {
      try {
        const { type, properties } = event;
        if (type === "permission.asked" || type === "question.asked") ask(type, properties);
        // Answered or withdrawn: the daemon sees the connection close.
        else if (/^(permission|question)\.(replied|rejected)$/.test(type))
          open.get(properties.requestID ?? properties.permissionID ?? properties.id)?.destroy();
      } catch {}
    },
  };
};
