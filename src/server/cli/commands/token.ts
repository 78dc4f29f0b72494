import { ingestToken, loadAccess } from "../../auth/access.ts";
import { dataDirOf, inDataFolder } from "../data-dir.ts";
import type { Flags } from "../flags.ts";
import { print } from "../terminal.ts";

/** `token`: prints the token with which programs push sessions. */
export async function printToken(_operands: string[], flags: Flags): Promise<number> {
  const data_dir = dataDirOf(flags);
  const access = inDataFolder(data_dir, () => loadAccess(data_dir));
  return await print(`${ingestToken(access)}\n`);
}
