import { agentAttachments } from "../../attach/attach.ts";
import { UsageError } from "../../usage-error.ts";
import { agentFolders } from "../agent-folders.ts";
import { dataDirOf } from "../data-dir.ts";
import type { Flags } from "../flags.ts";
import { print } from "../terminal.ts";

/** `attach AGENT`: allows answering an agent's requests in the browser, and prints the change of its settings. */
export async function attachAgent(operands: string[], flags: Flags): Promise<number> {
  const attachment = attachmentOf("attach", operands, flags);
  const is_installed = attachment.isInstalled();
  const { diff, file, name } = attachment.describe();
  attachment.install();
  if (is_installed) return await print(`${name} is already attached.\n`);
  return await print(diff === "" ? `${name} is attached.\n` : `${file}:\n${diff}\n`);
}

/** `detach AGENT`: reverts that, and prints the change. */
export async function detachAgent(operands: string[], flags: Flags): Promise<number> {
  const attachment = attachmentOf("detach", operands, flags);
  const is_installed = attachment.isInstalled();
  const { diff, file, name } = attachment.describe();
  attachment.remove();
  if (!is_installed) return await print(`${name} is not attached.\n`);
  return await print(diff === "" ? `${name} is detached.\n` : `${file}:\n${diff}\n`);
}

function attachmentOf(command: string, [agent, ...more]: string[], flags: Flags) {
  const attachments = agentAttachments(dataDirOf(flags), agentFolders());
  const attachment = attachments.get(agent ?? "");
  if (attachment === undefined || more.length > 0)
    throw new UsageError(
      `Specify an agent: ${[...attachments.keys()].map((name) => `\`${command} ${name}\``).join(" or ")}.`,
    );
  return attachment;
}
