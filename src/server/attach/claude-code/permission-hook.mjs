// Claude Code runs this as a PermissionRequest hook. It sends the request to the daemon and prints the answer. On any error it
// exits with 0 and prints nothing: the agent's own dialog then works as if there were no hook. The argument is the path of the
// daemon's socket. The daemon writes lines: empty ones while it holds the request, and finally the answer as JSON.
import { connect } from "node:net";

/** Without a line from the daemon for this time, it is considered hung. Milliseconds. */
const SILENCE_MS = 5_000;

const leave = () => process.exit(0);
process.on("uncaughtException", leave);
process.on("unhandledRejection", leave);

// The daemon handles the requests of its own sessions itself.
if (process.env.VERBATIM_AGENT) leave();

let body = "";
process.stdin.setEncoding("utf8");
for await (const chunk of process.stdin) body += chunk;

const socket = connect(process.argv[2] ?? "");
socket.setEncoding("utf8");
socket.setTimeout(SILENCE_MS, leave);
socket.on("error", leave);
socket.on("close", leave);
socket.on("connect", () => socket.write(`${JSON.stringify(JSON.parse(body))}\n`));
let received = "";
socket.on("data", (chunk) => {
  received += chunk;
  const lines = received.split("\n");
  received = lines.pop() ?? "";
  const answer = lines.find((line) => line !== "");
  if (answer !== undefined) process.stdout.write(`${JSON.stringify(JSON.parse(answer))}\n`, leave);
});
