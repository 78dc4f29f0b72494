import type { Links } from "./links.ts";
import type { IndexedSession } from "./session-file.ts";

/** The sessions whose rows depend on this one: its parent or the session that it was rewound from, and those that it replaces. */
export function dependentsOf(
  id: string,
  { links, indexed }: { links: Pick<Links, "of" | "replaces">; indexed: ReadonlyMap<string, IndexedSession> },
): string[] {
  const above = links.of(id)?.parent ?? rewoundFrom(indexed.get(id));
  return [...(above === undefined ? [] : [above]), ...links.replaces(id)];
}

/** The session that this one was rewound from. */
function rewoundFrom(state: IndexedSession | undefined): string | undefined {
  const from = state?.summary.forked_from;
  return from?.rewind ? from.session_id : undefined;
}
