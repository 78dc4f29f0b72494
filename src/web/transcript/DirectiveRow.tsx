import type { ReactNode } from "react";
import { isUuid } from "../../model/is-uuid.ts";
import { type Directive, directiveText } from "../../model/parts/directives.ts";
import { Markdown } from "../markdown/Markdown.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { SafeLink } from "../ui/SafeLink.tsx";
import { Disclosure } from "./Disclosure.tsx";
import type { TranscriptHost } from "./host.ts";
import { useOpenState } from "./open-state.ts";

/** Directives of the agent to its host program: adjacent ones share a line, and each comment has its own. */
export function DirectiveRow({
  directives,
  source,
  id,
  host,
}: {
  directives: readonly Directive[];
  /** Source text of the directives, for the tooltip. */
  source: string;
  /** Identifies the row among those of the same text. */
  id: string;
  host: TranscriptHost;
}): ReactNode {
  const short = directives.filter((directive) => directive.type !== "comment");
  const branch = short.find((directive) => directive.type === "branch")?.branch;
  return (
    <>
      {short.length > 0 && (
        <p className="marker-line directive-line" title={source}>
          <span className="marker-title">
            {short.map((directive, index) => (
              <span key={index}>
                {index > 0 && " · "}
                <DirectiveItem directive={directive} branch={branch} host={host} />
              </span>
            ))}
          </span>
        </p>
      )}
      {directives.map(
        (directive, index) =>
          directive.type === "comment" && (
            <Comment key={index} directive={directive} id={`${id}:${index}`} host={host} />
          ),
      )}
    </>
  );
}

function DirectiveItem({
  directive,
  branch,
  host,
}: {
  directive: Directive;
  branch: string | undefined;
  host: TranscriptHost;
}): ReactNode {
  const words = visible(directiveText(directive, branch), "name");
  if (directive.type === "pull_request")
    return (
      <SafeLink href={directive.url} text={directiveText(directive, branch)}>
        {words}
      </SafeLink>
    );
  if (directive.type === "thread" && isUuid(directive.id))
    return <a href={host.runHref(directive.id)}>{words}</a>;
  return words;
}

function Comment({
  directive,
  id,
  host,
}: {
  directive: Extract<Directive, { type: "comment" }>;
  id: string;
  host: TranscriptHost;
}): ReactNode {
  const [open, setOpen] = useOpenState(host, id, false);
  return (
    <Disclosure
      open={open}
      onOpen={setOpen}
      className="marker marker-note"
      summary={
        <span className="marker-line">
          <span className="marker-title">{visible(directiveText(directive), "name")}</span>
        </span>
      }
    >
      <Markdown text={directive.body} idPrefix={`${id}-`} />
    </Disclosure>
  );
}
