import { type ReactNode, useState } from "react";
import type { TranscriptPartOf } from "../../model/transcript.ts";
import { CodeBlock } from "../ui/CodeBlock.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { byteSize } from "../ui/size.tsx";
import type { TranscriptHost } from "./host.ts";
import { indentJson } from "./RawView.tsx";
import { isRecord } from "./tool-cards/card.ts";

/** A call's arguments as they were sent: indented where they are JSON, whole on demand. */
export function WholeArguments({
  call,
  host,
}: {
  call: TranscriptPartOf<"tool_call">;
  host: TranscriptHost;
}): ReactNode {
  const [whole, setWhole] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const text = whole ?? call.arguments_json;
  const length = call.truncated?.arguments_json;
  const { loadWhole } = host;
  const isJson = /^\s*[{[]/.test(text);
  const pairs = length === undefined ? shortPairs(text) : undefined;
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
    <>
      <CodeBlock code={isJson ? indentJson(text) : text} language={isJson ? "json" : ""} />
      {whole === undefined && length !== undefined && length > text.length && loadWhole !== undefined && (
        <button
          type="button"
          className="show-all"
          onClick={() => {
            loadWhole(call.id).then(
              (part) => setWhole(part.type === "tool_call" ? part.arguments_json : ""),
              (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
            );
          }}
        >
          Show all ({byteSize(length)})
        </button>
      )}
      {failure !== undefined && (
        <p className="note" role="alert">
          Not loaded: {visible(failure, "prose")}
        </p>
      )}
    </>
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
      ([, value]) => value === null || (typeof value !== "object" && !String(value).includes("\n")),
    );
  return short ? entries.map(([key, value]) => [key, String(value)]) : undefined;
}
