import { listAgents } from "./commands/agents.ts";
import { attachAgent, detachAgent } from "./commands/attach.ts";
import { decodeFile } from "./commands/decode.ts";
import { exportSessions } from "./commands/export.ts";
import { serveMcp } from "./commands/mcp.ts";
import { pipeSession } from "./commands/pipe.ts";
import { runInTerminal } from "./commands/run.ts";
import { searchSessions } from "./commands/search.ts";
import { showFiles } from "./commands/show.ts";
import { start } from "./commands/start.ts";
import { printToken } from "./commands/token.ts";
import { type CommandName, type Flags, helpText, readFlags } from "./flags.ts";
import { readVersion } from "./package-root.ts";
import { fail, print } from "./terminal.ts";

/** The implementation of each command. The result is the exit code. */
const RUN: Record<CommandName, (operands: string[], flags: Flags) => Promise<number>> = {
  start,
  run: runInTerminal,
  pipe: pipeSession,
  show: showFiles,
  export: exportSessions,
  decode: decodeFile,
  search: searchSessions,
  mcp: serveMcp,
  token: printToken,
  agents: listAgents,
  attach: attachAgent,
  detach: detachAgent,
};

async function main(args: string[]): Promise<number> {
  const { command, operands, flags } = readFlags(args);
  if (flags.help) return await print(helpText());
  if (flags.version) return await print(`${readVersion()}\n`);
  return await RUN[command](operands, flags);
}

// Set by the launcher for this process only. Agents must not inherit them.
for (const name of process.env.VERBATIM_LAUNCHER?.split(",") ?? []) delete process.env[name];
delete process.env.VERBATIM_LAUNCHER;

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader of our output closed it (`| head`).
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = fail(error);
}
