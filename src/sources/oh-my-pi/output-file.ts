import { asObject, asText, type JsonObject } from "../../model/narrow.ts";
import type { OutputFile } from "../contract.ts";

/** The file or folder of a session, `<time>_<id>`, in the path of its file or of a sub-agent's. */
const SESSION = /^(.*[\\/]\d{4}-\d\d-\d\dT[\d-]+Z_[^\\/]+?)(?:\.jsonl$|[\\/])/;

/**
 * Names the file with the complete output where pi does, for a result whose details have only the number of that file. Source:
 * `session/artifacts.ts` and `tools/output-meta.ts` of oh-my-pi.
 */
export function withOutputPath(
  details: JsonObject | undefined,
  tool_name: string | undefined,
): JsonObject | undefined {
  const { truncation } = asObject(details?.meta) ?? {};
  const number = asText(asObject(truncation)?.artifactId);
  if (number === undefined || tool_name === undefined) return details;
  const tool = tool_name
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .slice(0, 64)
    .replace(/^_+|_+$/g, "");
  return { ...details, fullOutputPath: `${number}.${tool === "" ? "tool" : tool}.log` };
}

/** Long outputs are in the folder of the top session, also those of its sub-agents. */
export function outputFile(session_path: string, recorded_path: string): OutputFile | undefined {
  const folder = SESSION.exec(session_path)?.[1];
  if (folder === undefined || !/^\d+\.[\w-]+\.log$/.test(recorded_path)) return undefined;
  return { folder, path: `${folder}/${recorded_path}` };
}
