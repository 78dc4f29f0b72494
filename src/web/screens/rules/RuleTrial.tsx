import type { ReactNode } from "react";
import { visibleText } from "../../../hidden-text/hidden-text.ts";
import type { RuleTrialReply } from "../../../protocol.ts";
import { sessionHref } from "../../app/router.ts";
import { exactNumber, exactTime } from "../../text/format.ts";
import { plainMarkdown } from "../../text/plain-markdown.ts";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";

/** The result of a trial: the number of past matches of a rule, and links to some of them. */
export function RuleTrial({ trial }: { trial: RuleTrialReply }): ReactNode {
  const { times, sessions, is_more, searched, all, not_indexed, hits } = trial;
  const facts = [
    times === 0 ? t.rules.never : t.rules.times(exactNumber(times), exactNumber(sessions), is_more),
    t.search.searched(exactNumber(searched), exactNumber(all)),
    ...(not_indexed === 0 ? [] : [t.search.notIndexed(exactNumber(not_indexed))]),
  ];
  return (
    <section className="rule-trial" aria-label={t.rules.trial}>
      <p role="status">
        <strong>{facts[0]}</strong> · {facts.slice(1).join(" · ")}
      </p>
      {hits.length > 0 && (
        <ol className="rule-hits">
          {hits.map(({ session_id, title, part_id, at, text }, index) => (
            <li key={`${session_id} ${part_id ?? index}`}>
              {at !== undefined && at > 0 && (
                <time dateTime={new Date(at).toISOString()}>{exactTime(at)}</time>
              )}{" "}
              <a
                href={sessionHref(session_id, part_id === undefined ? "" : `part-${part_id}`)}
                target="_blank"
                rel="noreferrer"
              >
                {visibleText(title === undefined ? t.sessions.untitled : plainMarkdown(title), "prose")}
              </a>{" "}
              {text !== undefined && <span className="rule-hit-text">{visible(text, "prose")}</span>}
            </li>
          ))}
        </ol>
      )}
      {hits.length < times && <p className="dialog-note">{t.rules.newest(hits.length)}</p>}
    </section>
  );
}
