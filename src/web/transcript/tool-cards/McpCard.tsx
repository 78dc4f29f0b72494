import type { ReactNode } from "react";
import { CodeBlock } from "../../code/CodeBlock.tsx";
import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import type { CallView, CardBodyProps, ToolCard } from "./card.ts";
import { describe } from "./GenericCard.tsx";

/** A tool of an MCP server: server, tool and arguments. */
export const mcpCard: ToolCard = {
  payloads: ["mcp"],
  kind: "mcp",
  summary: (view) => {
    const { server, tool } = nameOf(view);
    const subject = describe(view);
    return {
      label: tool,
      subject: (
        <>
          <span className="subject-more">{visible(server, "name")} </span>
          {visible(subject, "code")}
        </>
      ),
      title: `${server} ${subject}`,
    };
  },
  Body: McpBody,
};

function nameOf({ call, extra }: CallView): { server: string; tool: string } {
  if (extra?.type === "mcp") return { server: extra.server, tool: extra.tool };
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(call.tool_name) ?? [];
  return { server: server ?? "", tool: tool ?? call.tool_name };
}

function McpBody({ view: { extra } }: CardBodyProps): ReactNode {
  if (extra?.type !== "mcp" || extra.structured === undefined) return null;
  return (
    <CodeBlock
      code={JSON.stringify(extra.structured, null, 2) ?? ""}
      language="json"
      title={t.cards.structured}
    />
  );
}
