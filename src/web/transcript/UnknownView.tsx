import type { ReactNode } from "react";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { CodeBlock } from "../code/CodeBlock.tsx";
import { t } from "../text/text.ts";
import { titleText } from "../text/title-text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { Disclosure } from "./Disclosure.tsx";
import type { TranscriptHost } from "./host.ts";
import { JsonBlock } from "./JsonBlock.tsx";
import { useOpenState } from "./open-state.ts";

/** An unknown or unreadable record at its position. A click shows all of it. */
export function UnknownView({
  part,
  host,
  isTarget,
}: {
  part: TranscriptPartOf<"unknown">;
  host: TranscriptHost;
  isTarget: boolean;
}): ReactNode {
  const [open, setOpen] = useOpenState(host, part.id, isTarget);
  const untitled = part.error === undefined ? t.part.unknown : t.part.unreadable;
  const title = part.title === undefined ? untitled : titleText(part.title, part.title_code);
  return (
    <Disclosure
      open={open}
      onOpen={setOpen}
      className={part.error === undefined ? "marker marker-unknown" : "marker marker-unreadable"}
      summary={
        <span className="marker-line">
          <span className="marker-title">
            {visible(title, "prose")}
            {part.error !== undefined && (
              <span className="subject-more"> {visible(part.error, "prose")}</span>
            )}
          </span>
        </span>
      }
    >
      {typeof part.raw === "string" && isLineOfJson(part.raw) ? (
        <JsonBlock text={part.raw} title={t.raw.record} />
      ) : (
        <CodeBlock
          code={typeof part.raw === "string" ? part.raw : (JSON.stringify(part.raw, null, 2) ?? "")}
          language="json"
          title={t.raw.record}
        />
      )}
    </Disclosure>
  );
}

function isLineOfJson(raw: string): boolean {
  return /^\s*[{[]/.test(raw) && !raw.includes("\n");
}
