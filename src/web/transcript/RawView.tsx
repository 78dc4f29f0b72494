import "../text/session-text.ts";
import { type ReactNode, useEffect, useState } from "react";
import { sourceText } from "../../model/transcript/source-text.ts";
import type { Source, TranscriptPart } from "../../model/transcript/transcript.ts";
import { CodeBlock } from "../code/CodeBlock.tsx";
import { t } from "../text/text.ts";
import { reasonOf } from "../ui/ErrorBoundary.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { byteSize } from "../ui/size.ts";
import { ContextButton } from "./ContextButton.tsx";
import type { RawRecord, TranscriptHost } from "./host.ts";
import { JsonBlock } from "./JsonBlock.tsx";

/** The raw record of a part, with its position in the agent's file. */
export function RawView({ part, host }: { part: TranscriptPart; host: TranscriptHost }): ReactNode {
  const [record, setRecord] = useState<RawRecord>();
  const [failure, setFailure] = useState<string>();
  const { loadRaw } = host;
  useEffect(() => {
    let isMounted = true;
    loadRaw?.(part.id).then(
      (loaded) => {
        if (isMounted) setRecord(loaded);
      },
      (error: unknown) => {
        if (isMounted) setFailure(reasonOf(error));
      },
    );
    return () => {
      isMounted = false;
    };
  }, [loadRaw, part.id]);

  const source = record?.place ?? record ?? part.source;
  return (
    <div className="raw-view">
      {source !== undefined && (
        <p className="raw-place">
          <Place source={source} />
          {record?.archived && <span className="subject-more"> {t.raw.archived}</span>}{" "}
          {part.step !== undefined && part.type !== "tool_result" && (
            <ContextButton part_id={part.id} host={host} />
          )}
        </p>
      )}
      {failure !== undefined && (
        <p className="note" role="alert">
          {t.raw.failed} {visible(failure, "prose")}
        </p>
      )}
      {record !== undefined && (
        <>
          <JsonBlock text={record.text} title={t.raw.record} />
          {record.truncated !== undefined && <p className="note">{t.raw.cut(byteSize(record.truncated))}</p>}
        </>
      )}
      {record === undefined && (failure !== undefined || loadRaw === undefined) && (
        <CodeBlock code={JSON.stringify(part, null, 2)} language="json" title={t.part.parsed} />
      )}
      {record === undefined && failure === undefined && loadRaw !== undefined && (
        <p className="note">{t.raw.reading}</p>
      )}
    </div>
  );
}

function Place({ source }: { source: Source | RawRecord }): ReactNode {
  if ("kind" in source && source.kind !== undefined) return visible(sourceText(source, true), "name");
  return (
    <>
      {visible(source.file, "name")}
      {source.line > 0 && `:${source.line}`} <span className="subject-more">{t.raw.byte}</span>{" "}
      {source.byte.toLocaleString("en")} <span className="subject-more">{t.raw.length}</span>{" "}
      {byteSize(source.length)}
    </>
  );
}
