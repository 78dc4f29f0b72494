import { useMemo, useState } from "react";
import { OUTPUT_PIECE } from "../../../model/parts/kept-output.ts";
import type { Api } from "../../api/api.ts";
import { failureText } from "../../text/failure-text.ts";
import type { Outputs } from "../../transcript/host.ts";

const NEWLINE = 0x0a;
/** Maximum number of cached outputs. Each may have `OUTPUT_PIECE` bytes. */
const MAX_OUTPUTS = 4;

/** The complete outputs of a session that the user has opened. */
export function useOutputs(api: Api, session_id: string): Outputs {
  const [opened, setOpened] = useState<Outputs["opened"]>(new Map());
  return useMemo<Outputs>(
    () => ({
      opened,
      async open(part_id, starts, byte_size) {
        const from = starts.at(-1) ?? 0;
        const reply = await api.output(session_id, part_id, from);
        if (!reply.ok) throw new Error(failureText(reply.failure));
        const bytes = new Uint8Array(await reply.value.arrayBuffer());
        const isLast = bytes.length < OUTPUT_PIECE || from + bytes.length === byte_size;
        const length = isLast ? bytes.length : pieceLength(bytes);
        const text = new TextDecoder().decode(bytes.subarray(0, length));
        const piece = { text, starts, ...(isLast ? {} : { next: from + length }) };
        setOpened((before) => {
          const others = [...before].filter(([id]) => id !== part_id);
          return new Map([...others.slice(1 - MAX_OUTPUTS), [part_id, piece]]);
        });
      },
      close: (part_id) => setOpened((before) => new Map([...before].filter(([id]) => id !== part_id))),
    }),
    [api, session_id, opened],
  );
}

/** How many bytes of a piece to show: up to the last complete line or, if that is less than half, the last complete character. */
function pieceLength(bytes: Uint8Array): number {
  const lines = bytes.lastIndexOf(NEWLINE) + 1;
  if (lines > bytes.length / 2) return lines;
  // Continuation bytes of UTF-8 are 0b10xxxxxx.
  return bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
}
