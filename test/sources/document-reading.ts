import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Format } from "../../src/sources/contract.ts";
import { formats } from "../../src/sources/index.ts";
import { orderOf } from "./record-laws.ts";
import { closed, look, openStore } from "./store-reading.ts";

/** Writes a document, recognizes it only by its content, and removes it after the test. */
export function read(name: string, document: unknown) {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-documents-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  const text = typeof document === "string" ? document : JSON.stringify(document, undefined, 2);
  writeFileSync(path, text);
  const head = new TextEncoder().encode(text).subarray(0, 65_536);
  const format = formats.find((candidate) => candidate.detect(head));
  if (format === undefined) throw new Error(`Nobody reads ${name}`);
  if (!name.endsWith(".jsonl")) expect(format.snapshots?.recognizes(openStore(path))).toBe(true);
  return { format, path, head };
}

/** The sessions of a document, each with the facts that tests state. */
export function sessionsOf(name: string, document: unknown) {
  const { format, path } = read(name, document);
  const sessions = [...look(format, openStore(path)).values()];
  return {
    format,
    sessions: sessions.map((session) => {
      const { parts, transcript } = closed(session);
      const patches = session.records.flatMap(({ frames }) =>
        frames.flatMap((frame) => (frame.type === "session.update" ? [frame.patch] : [])),
      );
      const fates = session.records.map(({ disposition }) => disposition.kind);
      expect(fates).not.toContain("unreadable");
      return {
        session_id: transcript.session_id,
        kind: session.kind,
        order: orderOf(parts),
        parts,
        usage: transcript.usage,
        statuses: [...transcript.turns].map((turn) => turn?.status).join(" "),
        facts: Object.assign({}, ...patches) as Record<string, unknown>,
        links: session.reader.linkFacts().sessions,
      };
    }),
  };
}

export const idOf = (format: Format | undefined): string | undefined => format?.id;
