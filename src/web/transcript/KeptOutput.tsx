import { type ReactNode, useCallback, useMemo, useState } from "react";
import { keptOutputOf, ownOutput } from "../../model/parts/kept-output.ts";
import { printedEnd, printedOutput } from "../../model/parts/script-output.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { Output, type OutputProps } from "../code/Output.tsx";
import { t } from "../text/text.ts";
import { reasonOf } from "../ui/ErrorBoundary.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { useIsSearchMatch } from "../ui/search-match.ts";
import { byteSize } from "../ui/size.ts";
import type { TranscriptHost } from "./host.ts";
import { isLineOfJson, JsonOutput } from "./JsonOutput.tsx";

/** The output of a call as the agent saw it. If the agent keeps the whole output in a file, that is loaded on demand. */
export function KeptOutput({
  result,
  seen,
  host: { outputs },
}: {
  result: TranscriptPartOf<"tool_result">;
  seen: OutputProps;
  host: TranscriptHost;
}): ReactNode {
  const kept = keptOutputOf(result);
  const opened = outputs?.opened.get(result.id);
  const [isLoading, setLoading] = useState(false);
  const [failure, setFailure] = useState<string>();
  if (kept === undefined) return <UnwrappedOutput result={result} seen={seen} />;
  const open = async (starts: readonly number[]): Promise<void> => {
    setLoading(true);
    setFailure(undefined);
    await outputs
      ?.open(result.id, starts, kept.byte_size)
      .catch((error: unknown) => setFailure(reasonOf(error)));
    setLoading(false);
  };
  const { starts = [0], next } = opened ?? {};
  const from = starts.at(-1) ?? 0;
  const isPiece = from > 0 || next !== undefined;
  const all = kept.byte_size === undefined ? "" : byteSize(kept.byte_size);
  const size = all === "" ? "" : ` (${all})`;
  return (
    <>
      <dl className="card-facts">
        <div>
          <dt>{t.kept.whole}</dt>
          <dd>
            {visible(kept.path, "name")}
            {size}
          </dd>
        </div>
      </dl>
      {opened === undefined ? (
        <Output {...seen} text={ownOutput(result)} isAsAgentSaw />
      ) : (
        <Output key={from} text={opened.text} label={isPiece ? t.kept.piece : t.kept.whole} unfolded />
      )}
      {outputs !== undefined && (
        <div className="output-actions">
          <button
            type="button"
            className="show-all"
            disabled={isLoading}
            onClick={() => (opened === undefined ? void open([0]) : outputs.close(result.id))}
          >
            {opened !== undefined ? t.kept.showSeen : t.kept.open(size)}
          </button>
          {starts.length > 1 && (
            <button
              type="button"
              className="show-all"
              disabled={isLoading}
              onClick={() => void open(starts.slice(0, -1))}
            >
              {t.kept.before}
            </button>
          )}
          {next !== undefined && (
            <button
              type="button"
              className="show-all"
              disabled={isLoading}
              onClick={() => void open([...starts, next])}
            >
              {t.kept.after}
            </button>
          )}
          {isPiece && (
            <span className="note">
              {t.kept.range(byteSize(from), next === undefined ? undefined : byteSize(next), all)}
            </span>
          )}
          {failure !== undefined && (
            <span className="note" role="alert">
              {t.kept.notOpened} {visible(failure, "prose")}
            </span>
          )}
        </div>
      )}
    </>
  );
}

/**
 * The output without what the agent wrapped it in: a header, or the JSON in which a script prints the results of its commands.
 * The text as the model saw it is in a closed section below.
 */
function UnwrappedOutput({
  result,
  seen,
}: {
  result: TranscriptPartOf<"tool_result">;
  seen: OutputProps;
}): ReactNode {
  const start = result.ui_extra?.output_start ?? 0;
  const header = seen.text.slice(0, start);
  const isPrinted = useMemo(() => printedOutput(seen.text.slice(start)) !== undefined, [seen.text, start]);
  const read = useCallback(
    (text: string, is_end: boolean): string => {
      if (is_end) return isPrinted ? printedEnd(text) : text;
      const output = text.slice(start);
      return isPrinted ? (printedOutput(output) ?? output) : output;
    },
    [start, isPrinted],
  );
  const isEmpty = useMemo(() => read(seen.text, false).trim() === "", [read, seen.text]);
  const isJson = useMemo(
    () => !isPrinted && isLineOfJson(seen.text.slice(start), (seen.truncated ?? 0) > seen.text.length),
    [isPrinted, seen.text, seen.truncated, start],
  );
  const [isOpen, setOpen] = useState(false);
  const isMatch = useIsSearchMatch(() => (isOpen ? "" : header));
  if (isMatch) setOpen(true);
  const { failureIn: _, ...sent } = seen;
  const own = isJson ? <JsonOutput output={seen} start={start} /> : <Output {...seen} convert={read} />;
  if (start === 0 && !isPrinted) return own;
  return (
    <>
      {isEmpty ? <p className="note">{t.call.noOutput}</p> : own}
      <details
        className="card-section"
        open={isOpen}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>{t.call.asSent}</summary>
        {isOpen && <Output {...sent} label={t.call.asSent} />}
      </details>
    </>
  );
}
