// Agents run this as a hook. It sends the hook's body to the daemon and prints the answer. On any error it exits with 0 and
// prints nothing: the agent's own dialog then works as if there were no hook. Arguments: the path of the daemon's socket; then,
// for agents whose hook bodies do not contain them, the agent, the event, and the agent's process id. The daemon writes lines:
// empty ones while it holds the request, and finally the answer as JSON.
import { connect } from "node:net";

/** Without a line from the daemon for this time, it is considered hung. Milliseconds. */
const SILENCE_MS = 5_000;

const leave = () => process.exit(0);
process.on("uncaughtException", leave);
process.on("unhandledRejection", leave);

// The daemon handles the requests of its own sessions itself.
if (process.env.VERBATIM_AGENT) leave();

const [, , path = "", agent, event, pid] = process.argv;
let text = "";
process.stdin.setEncoding("utf8");
for await (const chunk of process.stdin) text += chunk;
const body = JSON.parse(text);
const message = agent === undefined ? body : { agent, event, pid: Number(pid), body };

const socket = connect(path);
socket.setEncoding("utf8");
socket.setTimeout(SILENCE_MS, leave);
socket.on("error", leave);
socket.on("close", leave);
socket.on("connect", () => socket.write(`${JSON.stringify(message)}\n`));
let received = "";
socket.on("data", (chunk) => {
  received += chunk;
  const lines = received.split("\n");
  received = lines.pop() ?? "";
  const answer = lines.find((line) => line !== "");
  if (answer !== undefined) process.stdout.write(`${JSON.stringify(JSON.parse(answer))}\n`, leave);
});
