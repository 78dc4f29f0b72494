import type { ReactNode } from "react";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { CodeBlock } from "../code/CodeBlock.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { fieldText } from "./field-text.ts";
import type { TranscriptHost } from "./host.ts";
import { JsonBlock, losesSome } from "./JsonBlock.tsx";
import { isRecord } from "./tool-cards/card.ts";
import { WholeText } from "./WholeText.tsx";

/** The arguments of a call as sent. JSON is indented, and truncated arguments are loaded on demand. */
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

/** The arguments as pairs, if they are few and short enough to be shown as a list instead of JSON. */
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

/** Whether a string is unambiguous without quotes: no surrounding white space, and not readable as another JSON value. */
function isPlain(value: string): boolean {
  if (value.includes("\n") || value.trim() !== value) return false;
  try {
    JSON.parse(value);
    return false;
  } catch {
    return true;
  }
}
