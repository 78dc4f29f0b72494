import type { ReactNode } from "react";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { SafeLink } from "../../ui/SafeLink.tsx";
import { byteSize } from "../../ui/size.ts";
import { type CardBodyProps, isRecord, oneLine, type ToolCard, text } from "./card.ts";

/** A web search with its results, or a fetched page. Makes no requests itself. */
export const webCard: ToolCard = {
  payloads: ["web_search", "web_fetch"],
  kind: "web",
  summary: ({ call, input, extra }) => {
    const action = isRecord(input.action) ? input.action : input;
    const subject =
      extra?.type === "web_search"
        ? extra.query
        : extra?.type === "web_fetch"
          ? extra.url
          : (text(action, "query", "url", "prompt") ?? "");
    const isSearch = extra?.type === "web_search" || isSearchTool(call.tool_name);
    return {
      label: /^[A-Z]/.test(call.tool_name) ? call.tool_name : isSearch ? "WebSearch" : "WebFetch",
      subject: visible(oneLine(subject), isSearch ? "prose" : "name"),
      title: subject,
      figures:
        extra?.type === "web_search"
          ? t.count.results(extra.results.length)
          : extra?.type === "web_fetch"
            ? [extra.status, extra.byte_size === undefined ? undefined : byteSize(extra.byte_size)]
                .filter((value) => value !== undefined)
                .join(" · ")
            : undefined,
    };
  },
  Body: WebBody,
};

const isSearchTool = (name: string): boolean => /search/i.test(name);

function WebBody({ view: { extra, input } }: CardBodyProps): ReactNode {
  const url = extra?.type === "web_fetch" ? extra.url : text(input, "url");
  return (
    <>
      {url !== undefined && (
        <p className="card-note">
          <SafeLink href={url} text={url}>
            {visible(url, "name")}
          </SafeLink>
        </p>
      )}
      {extra?.type === "web_search" && (
        <ul className="card-list">
          {extra.results.map((result, index) => (
            <li key={index}>
              <SafeLink href={result.url} text={result.title}>
                {visible(result.title || result.url, "prose")}
              </SafeLink>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
