import type { AgentSource } from "../../../protocol.ts";
import { agentSource, sourcesReply } from "../../../protocol.ts";
import { loadAccess } from "../../auth/access.ts";
import { requestLink } from "../../auth/control-socket.ts";
import { UsageError } from "../../usage-error.ts";
import { dataDirOf } from "../data-dir.ts";
import type { Flags } from "../flags.ts";
import { call } from "../run-prompt.ts";
import { print } from "../terminal.ts";
import { safe } from "../terminal-text.ts";

/** Number of folders printed for an agent that has none of them. Extensions of editors have one per editor and system. */
const MAX_MISSING_FOLDERS = 3;

/**
 * `agents`: prints the agents whose session files are read; `agents on|off AGENT` switches one. Sends the request to the running
 * daemon.
 */
export async function listAgents(operands: string[], flags: Flags): Promise<number> {
  const [change, agent, ...more] = operands;
  const isChange = change === "on" || change === "off";
  if (operands.length > 0 && (!isChange || agent === undefined || more.length > 0))
    throw new UsageError("Use `agents`, `agents on AGENT` or `agents off AGENT`.");
  const data_dir = dataDirOf(flags);
  const running = await requestLink(data_dir);
  if (running === undefined)
    throw new UsageError(`No daemon uses the data folder ${data_dir}. Start one with \`npm start\`.`);
  const daemon = { origin: running.origin, token: loadAccess(data_dir).api_token };
  if (agent !== undefined)
    await call(daemon, "POST", `/api/sources/${encodeURIComponent(agent)}`, agentSource, {
      is_on: change === "on",
    });
  const { agents } = await call(daemon, "GET", "/api/sources", sourcesReply);
  return await print(safe(table(agents)));
}

function table(agents: readonly AgentSource[]): string {
  const found = agents.filter(({ is_on, sessions }) => is_on && sessions > 0);
  const missing = agents.filter(({ is_on, sessions }) => is_on && sessions === 0);
  const off = agents.filter(({ is_on }) => !is_on);
  const groups = [
    ["Read", found],
    ["Not found", missing],
    ["Off", off],
  ] as const;
  return groups
    .filter(([, group]) => group.length > 0)
    .map(([name, group]) => `${name}\n${group.map(lines).join("")}`)
    .join("\n");
}

function lines({ agent, name, sessions, folders, read_at, problems }: AgentSource): string {
  const count = sessions === 0 ? "" : `  ${sessions} ${sessions === 1 ? "session" : "sessions"}`;
  const read =
    read_at === undefined || sessions === 0 ? "" : `  read ${new Date(read_at).toLocaleString("sv")}`;
  const shown = folders.some(({ exists }) => exists) ? folders.length : MAX_MISSING_FOLDERS;
  return [
    `  ${name} (${agent})${count}${read}`,
    ...folders.slice(0, shown).map(({ path, exists }) => `    ${path}${exists ? "" : " (does not exist)"}`),
    ...(folders.length > shown ? [`    and ${folders.length - shown} more folders, which do not exist`] : []),
    ...problems.map(({ text, remedy }) => `    ! ${text}${remedy === undefined ? "" : ` ${remedy}`}`),
    "",
  ].join("\n");
}
