import { homedir } from "node:os";
import { join } from "node:path";
import { claudeCode } from "../../../sources/claude-code/format.ts";
import { claudeCodeAttachment } from "../../attach/claude-code/attachment.ts";
import { UsageError } from "../../usage-error.ts";
import { dataDirOf } from "../data-dir.ts";
import type { Flags } from "../flags.ts";
import { print } from "../terminal.ts";

/** `attach AGENT`: adds the hook with which an agent's requests are answered in the browser, and prints the change. */
export async function attachAgent(words: string[], flags: Flags): Promise<number> {
  const attachment = attachmentOf("attach", words, flags);
  const { is_installed, diff, file } = attachment.describe();
  attachment.install();
  return await print(is_installed ? `${file} has the hook already.\n` : `${file}:\n${diff}\n`);
}

/** `detach AGENT`: removes the hook, and prints the change. */
export async function detachAgent(words: string[], flags: Flags): Promise<number> {
  const attachment = attachmentOf("detach", words, flags);
  const { is_installed, diff, file } = attachment.describe();
  attachment.remove();
  return await print(is_installed ? `${file}:\n${diff}\n` : `${file} does not have the hook.\n`);
}

function attachmentOf(command: string, [agent, ...more]: string[], flags: Flags) {
  if (agent !== "claude-code" || more.length > 0)
    throw new UsageError(`Name the agent: \`${command} claude-code\`. Other agents cannot be attached yet.`);
  const { root } = claudeCode;
  const config_dir = process.env[root?.variable ?? ""] || join(homedir(), root?.home ?? ".claude");
  return claudeCodeAttachment({ data_dir: dataDirOf(flags), config_dir });
}
