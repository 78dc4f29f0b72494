import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

// An MCP server whose one tool asks the user to fill in a form, and returns what was entered.

const server = new McpServer({ name: "shop", version: "1.0.0" });
server.registerTool("order", { description: "Orders paint" }, async () => {
  const { action, content } = await server.server.elicitInput({
    mode: "form",
    message: "Your order",
    requestedSchema: {
      type: "object",
      properties: {
        colour: {
          type: "string",
          title: "Colour",
          oneOf: [
            { const: "r", title: "Red" },
            { const: "b", title: "Blue" },
          ],
        },
        name: { type: "string", title: "Name" },
      },
      required: ["colour", "name"],
    },
  });
  return { content: [{ type: "text", text: `${action} ${JSON.stringify(content)}` }] };
});
await server.connect(new StdioServerTransport());
