import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import type { AgentHost } from "./agent.ts";

/** Maximum bytes of an output's beginning and end for a model. The end gets more, because it contains a command's result. */
const HEAD = 10_000;
const TAIL = 20_000;

/** An output, truncated for the model, and the location of the complete output. */
export interface TruncatedOutput {
  text: string;
  /** Length of the complete output in bytes. */
  byte_size: number;
  /** The file with the complete output. Absent: `text` is complete. */
  path?: string;
}

/** The fields of a result's payload that refer to the complete output. */
export function keptFields({ path, byte_size }: TruncatedOutput) {
  return path === undefined ? {} : { persisted_path: path, persisted_bytes: byte_size };
}

/** Path of a file for a call's output. Call ids come from the provider and may contain any characters, so they are escaped. */
export function fileOfCall(host: AgentHost, call_id: string, suffix: string): string {
  const plain = call_id.replace(/[^\w-]/g, "_").slice(0, 64);
  const exact = createHash("sha256").update(call_id).digest("hex").slice(0, 12);
  return join(host.files, `${plain}-${exact}${suffix}`);
}

/** Truncates a text for the model. The complete text is stored in a file of the call. */
export async function truncateText(text: string, host: AgentHost, call_id: string): Promise<TruncatedOutput> {
  const bytes = Buffer.from(text);
  if (bytes.length <= HEAD + TAIL) return { text, byte_size: bytes.length };
  const path = fileOfCall(host, call_id, ".txt");
  await writeFile(path, bytes, { mode: 0o600 });
  return {
    text: join3(bytes.subarray(0, HEAD), bytes.subarray(-TAIL), bytes.length, path),
    byte_size: bytes.length,
    path,
  };
}

/** An output that is written to disk as it arrives, using constant memory. */
interface OutputFile {
  /** Appends a chunk. `false`: wait for `drained` before writing more. */
  write(chunk: Uint8Array): boolean;
  drained(): Promise<void>;
  readonly byte_size: number;
  /** Ends the file and truncates the output for the model. Rejects if it could not be written. */
  finish(): Promise<TruncatedOutput>;
}

/** Opens a call's output file. `onError`: called if it cannot be written, for example without space or permission. */
export function createOutputFile(
  host: AgentHost,
  call_id: string,
  onError: (error: Error) => void,
): OutputFile {
  const path = fileOfCall(host, call_id, ".log");
  const stream = createWriteStream(path, { mode: 0o600 });
  const done = finished(stream);
  done.catch(onError);
  let byte_size = 0;
  return {
    write(chunk) {
      byte_size += chunk.length;
      return stream.destroyed || stream.write(chunk);
    },
    drained: () =>
      new Promise((resolve) => {
        const go = (): void => {
          stream.off("drain", go);
          stream.off("close", go);
          resolve();
        };
        stream.on("drain", go);
        stream.on("close", go);
      }),
    get byte_size() {
      return byte_size;
    },
    async finish() {
      stream.end();
      await done;
      return await truncateFile(path);
    },
  };
}

async function truncateFile(path: string): Promise<TruncatedOutput> {
  const { size } = await stat(path);
  if (size === 0) {
    await rm(path);
    return { text: "", byte_size: 0 };
  }
  const handle = await open(path);
  try {
    const part = async (position: number, length: number): Promise<Buffer> => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    };
    if (size <= HEAD + TAIL) return { text: (await part(0, size)).toString(), byte_size: size };
    const text = join3(await part(0, HEAD), await part(size - TAIL, TAIL), size, path);
    return { text, byte_size: size, path };
  } finally {
    await handle.close();
  }
}

function join3(head: Buffer, tail: Buffer, size: number, path: string): string {
  // Do not split characters at the cut.
  const start = new StringDecoder("utf8").write(head);
  let skip = 0;
  while (skip < 3 && ((tail[skip] ?? 0) & 0xc0) === 0x80) skip++;
  const left_out = size - HEAD - TAIL;
  return `${start}\n[… ${left_out.toLocaleString("en")} of ${size.toLocaleString("en")} bytes are omitted here; the complete output is in ${path} …]\n${tail.toString("utf8", skip)}`;
}
