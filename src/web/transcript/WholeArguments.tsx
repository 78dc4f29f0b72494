import type { ReactNode } from "react";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { CodeBlock } from "../code/CodeBlock.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { fieldText } from "./field-text.ts";
import type { TranscriptHost } from "./host.ts";
import { JsonBlock, losesSome } from "./JsonBlock.tsx";
import { isRecord } from "./tool-cards/card.ts";
import { WholeText } from "./WholeText.tsx";

/** A call's arguments as they were sent: indented where they are JSON, whole on demand. */
export function WholeArguments({
  call,
  host,
}: {
  call: TranscriptPartOf<"tool_call">;
  host: TranscriptHost;
}): ReactNode {
  const given = fieldText(call, "arguments_json", host);
  const pairs = given.truncated === undefined ? shortPairs(given.text) : undefined;
  if (pairs) {
    return (
      <dl className="card-facts card-facts-rows">
        {pairs.map(([key, value]) => (
          <div key={key}>
            <dt>{visible(key, "name")}</dt>
            <dd>{visible(value, "code")}</dd>
          </div>
        ))}
      </dl>
    );
  }
  return (
    <WholeText {...given}>
      {(text) => (/^\s*[{[]/.test(text) ? <JsonBlock text={text} /> : <CodeBlock code={text} language="" />)}
    </WholeText>
  );
}

/** Arguments that are a few short values: those read better as a list, which says all that the JSON says. */
function shortPairs(json: string): [string, string][] | undefined {
  if (json.length > 1_000) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isRecord(parsed)) return undefined;
  const entries = Object.entries(parsed);
  const short =
    entries.length > 0 &&
    entries.every(
      ([, value]) =>
        value === null || (typeof value === "string" ? isPlain(value) : typeof value !== "object"),
    );
  return short && !losesSome(json) ? entries.map(([key, value]) => [key, String(value)]) : undefined;
}

/** Whether a string says without its quotes what it says with them: it has no ends to see, and is none of `null` and `12`. */
function isPlain(value: string): boolean {
  if (value.includes("\n") || value.trim() !== value) return false;
  try {
    JSON.parse(value);
    return false;
  } catch {
    return true;
  }
}
