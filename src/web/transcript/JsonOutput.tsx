import { type ReactNode, useMemo, useState } from "react";
import { CodeBlock } from "../code/CodeBlock.tsx";
import type { OutputProps } from "../code/Output.tsx";
import { t } from "../text/text.ts";
import { useIsSearchMatch } from "../ui/search-match.ts";
import { indentJson } from "./JsonBlock.tsx";
import { WholeText } from "./WholeText.tsx";

/** Number of lines that are shown of a longer output before the user asks for all of it. */
const FIRST_LINES = 24;
/** Number of lines up to which an output is shown completely. */
const MAX_LINES = 40;

/** Whether an output is an object or array of JSON in one line. `isCut`: its end is missing. */
export function isLineOfJson(text: string, isCut: boolean): boolean {
  const line = text.trim();
  if (line.includes("\n")) return false;
  if (isCut) return /^(?:\{\s*"|\[\s*["{[])/.test(line);
  if (!/^[{[]/.test(line)) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** An output that is a line of JSON, from the character at `start` on: indented, highlighted, and copied as it was sent. */
export function JsonOutput({ output, start }: { output: OutputProps; start: number }): ReactNode {
  const { label, text, truncated, loadWhole } = output;
  const given = {
    text,
    ...(truncated !== undefined && { truncated }),
    ...(loadWhole !== undefined && { loadWhole }),
  };
  const whole = async (): Promise<string> =>
    (((truncated ?? 0) > text.length ? await loadWhole?.() : undefined) ?? text).slice(start);
  return (
    <WholeText {...given}>
      {(loaded) => <Folded json={loaded.slice(start)} label={label} whole={whole} />}
    </WholeText>
  );
}

function Folded({
  json,
  label,
  whole,
}: {
  json: string;
  label: string;
  whole: () => Promise<string>;
}): ReactNode {
  const lines = useMemo(() => indentJson(json).split("\n"), [json]);
  const [isUnfolded, setUnfolded] = useState(false);
  const isFolded = !isUnfolded && lines.length > MAX_LINES;
  const isMatch = useIsSearchMatch(() => (isFolded ? lines.slice(FIRST_LINES).join("\n") : ""));
  if (isMatch) setUnfolded(true);
  const code = useMemo(() => (isFolded ? lines.slice(0, FIRST_LINES) : lines).join("\n"), [lines, isFolded]);
  return (
    <>
      <CodeBlock wraps code={code} language="json" textToCopy={whole} copyLabel={t.common.copyOf(label)} />
      {isFolded && (
        <button type="button" className="show-all" onClick={() => setUnfolded(true)}>
          {t.output.allLines(lines.length)}
        </button>
      )}
    </>
  );
}
