import { messageOf } from "../../../model/narrow.ts";
import { apiProtocols, findApiProtocol } from "../../../providers/index.ts";
import { UsageError } from "../../usage-error.ts";
import { type DecodedStream, decodeStream } from "../decode-stream.ts";
import type { Flags } from "../flags.ts";
import { print } from "../terminal.ts";
import { safe } from "../terminal-text.ts";

/** `decode`: prints a recorded response of a provider as JSON. */
export async function decodeFile(files: string[], flags: Flags): Promise<number> {
  const [file, ...more] = files;
  if (file === undefined || more.length > 0)
    throw new UsageError("Specify one recorded stream: decode --wire WIRE FILE");
  const protocol = findApiProtocol(flags.wire ?? "");
  if (protocol === undefined) {
    const known = apiProtocols.map(({ wire }) => wire).join(", ");
    throw new UsageError(
      flags.wire === undefined
        ? `Specify the API protocol of the recording: --wire ${known}`
        : `--wire ${flags.wire}: unknown protocol. Choose one of: ${known}`,
    );
  }
  let decoded: DecodedStream;
  try {
    decoded = await decodeStream(protocol, file);
  } catch (error) {
    throw new UsageError(`${file}: cannot be read: ${messageOf(error)}`);
  }
  return await print(`${safe(JSON.stringify(decoded, null, 1))}\n`);
}
