import type { ReactNode } from "react";
import { isUuid } from "../../model/is-uuid.ts";
import { asObject, asText } from "../../model/narrow.ts";
import { titleOf } from "../../model/parts/content.ts";
import type { TextCode } from "../../model/text/coded-text.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { CodeBlock } from "../code/CodeBlock.tsx";
import { Markdown } from "../markdown/Markdown.tsx";
import { t } from "../text/text.ts";
import { textWithLines, titleText } from "../text/title-text.ts";
import { textCodeIn } from "../text/translated.ts";
import { visible } from "../ui/hidden-text.tsx";
import { StatusBadge } from "../ui/StatusBadge.tsx";
import { Disclosure } from "./Disclosure.tsx";
import { fieldText } from "./field-text.ts";
import type { TranscriptHost } from "./host.ts";
import { useOpenState } from "./open-state.ts";
import { WholeText } from "./WholeText.tsx";

type Marker = TranscriptPartOf<"marker">;

/** A marker in one line, which expands to its details. Errors are expanded at first. */
export function MarkerView({
  part,
  host,
  isTarget,
}: {
  part: Marker;
  host: TranscriptHost;
  isTarget: boolean;
}): ReactNode {
  const [open, setOpen] = useOpenState(host, part.id, isTarget);
  const elsewhere = part.kind === "note" || part.kind === "rewind" ? sessionOf(part.data) : undefined;
  const remedy = part.kind === "error" ? remedyOf(part.data) : undefined;
  const title = titleText(part.title, part.title_code);
  const line = (
    <span className="marker-line">
      {part.kind === "error" && (
        <>
          <StatusBadge status="failed" />{" "}
        </>
      )}
      <span className="marker-title">
        {visible(remedy === undefined ? title : t.marker.sentence(title), "prose")}
        {remedy !== undefined && <span className="marker-remedy"> {visible(remedy, "prose")}</span>}
      </span>
    </span>
  );
  const className = `marker marker-${part.kind}`;
  if (part.text === undefined && part.data === undefined) return <div className={className}>{line}</div>;
  if (elsewhere !== undefined) {
    return (
      <div className={className}>
        {line} <a href={host.runHref(elsewhere)}>{t.marker.show}</a>
      </div>
    );
  }
  return (
    <Disclosure open={open} onOpen={setOpen} className={className} summary={line}>
      {part.text !== undefined && (
        <WholeText {...fieldText(part, "text", host)}>
          {(text) => <Markdown text={textWithLines(text, codeOfText(part))} idPrefix={`${part.id}-`} />}
        </WholeText>
      )}
      {part.data !== undefined && (
        <CodeBlock code={JSON.stringify(part.data, null, 2) ?? ""} language="json" title={t.marker.data} />
      )}
    </Disclosure>
  );
}

/** The code of a marker's text. The text of an error or interrupt may repeat the title, with further lines. */
function codeOfText({ kind, title, title_code, text = "", text_code }: Marker): TextCode | undefined {
  if (text_code !== undefined || (kind !== "error" && kind !== "interrupt")) return text_code;
  return titleOf(text)?.toLowerCase() === title.toLowerCase() ? title_code : undefined;
}

/** Id of the session that the marker refers to, if any. */
function sessionOf(data: unknown): string | undefined {
  if (typeof data !== "object" || data === null || !("session_id" in data)) return undefined;
  return isUuid(data.session_id) ? data.session_id : undefined;
}

/** The remedy that was reported with an error, if any. */
function remedyOf(data: unknown): string | undefined {
  const fields = asObject(data);
  // Errors with `can_retry` have their own data below it.
  const { remedy, remedy_code } =
    (asText(fields?.remedy) === undefined ? asObject(fields?.data) : fields) ?? {};
  const text = asText(remedy);
  return text === undefined ? undefined : titleText(text, textCodeIn(remedy_code));
}
