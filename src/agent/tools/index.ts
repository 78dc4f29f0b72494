import type { PermissionRule } from "../permissions.ts";
import type { Tool } from "../tool.ts";
import { createAskTool } from "./ask.ts";
import { createEditTool } from "./edit.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { createReadTool } from "./read.ts";
import { createShellTool } from "./shell.ts";
import { createTaskTool } from "./task.ts";
import { createTodoTool } from "./todo.ts";
import { createWebFetchTool } from "./web-fetch.ts";
import { createWriteTool } from "./write.ts";

export interface ToolsOptions {
  /** The daemon's environment. Commands get it without the keys of model providers. */
  environment: Readonly<Record<string, string | undefined>>;
  /** The current rules, for what tools encounter while running: files, redirects, private addresses. */
  rules?: () => readonly PermissionRule[];
}

/** The tools of Verbatim's own loop, without those of MCP servers. To add a tool, add a line here. */
export function createTools({ environment, rules = () => [] }: ToolsOptions): Tool[] {
  return [
    createReadTool(),
    createWriteTool(),
    createEditTool(),
    createGlobTool({ rules }),
    createGrepTool({ rules }),
    createShellTool({ environment }),
    createTodoTool(),
    createWebFetchTool({ rules }),
    createAskTool(),
    createTaskTool(),
  ];
}
