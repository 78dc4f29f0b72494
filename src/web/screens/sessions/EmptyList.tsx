import type { ReactNode } from "react";
import type { StatusReply } from "../../../protocol.ts";
import { NEW_SESSION, searchHref } from "../../app/router.ts";
import { t } from "../../text/text.ts";

/** Shown instead of the list while it is empty. */
export function EmptyList({
  loaded,
  filtering,
  total,
  text,
  problem,
  roots,
  onClear,
}: {
  /** The text that the list is filtered by. */
  text: string;
  loaded: boolean;
  filtering: boolean;
  total: number;
  /** Why the list could not be loaded. `undefined`: it is loading. */
  problem: readonly [heading: string, text: string] | undefined;
  roots: StatusReply["roots"];
  onClear(): void;
}): ReactNode {
  if (!loaded)
    return (
      <div className="blank">
        <h2>{problem?.[0] ?? t.sessions.loading}</h2>
        <p>{problem?.[1] ?? t.sessions.indexing}</p>
      </div>
    );
  if (filtering && total > 0)
    return (
      <div className="blank">
        <h2>{t.sessions.noMatches}</h2>
        <p>{t.sessions.hidden(total)}</p>
        {text !== "" && (
          <p>
            <a href={searchHref(text)}>{t.sessions.searchInside(text)}</a>
          </p>
        )}
        <button type="button" className="button" onClick={onClear}>
          {t.sessions.clearFilter}
        </button>
      </div>
    );
  const folders = mainFolders(roots);
  const others = new Set(roots.map(({ path }) => path)).size - folders.length;
  return (
    <div className="blank">
      <h2>{t.sessions.none}</h2>
      <p>
        <a href={NEW_SESSION}>{t.sessions.startOne}</a> {t.sessions.orRun}
      </p>
      <ul>
        {folders.map((path) => (
          <li key={path}>
            <code>{path}</code>
          </li>
        ))}
        {others > 0 && <li>{t.sessions.moreFolders(others)}</li>}
      </ul>
      <p>
        {t.sessions.otherFolders} <code>npm start -- PATH</code>
      </p>
    </div>
  );
}

/** The folders of each agent that exist, or else its first one: agents may have dozens, most of other systems and editors. */
function mainFolders(roots: StatusReply["roots"]): string[] {
  const shown = roots.filter(({ agent, exists }, at) => {
    const hasOneBefore = roots.slice(0, at).some((other) => other.agent === agent);
    return exists || !(hasOneBefore || roots.some((other) => other.agent === agent && other.exists));
  });
  return [...new Set(shown.map(({ path }) => path))];
}
