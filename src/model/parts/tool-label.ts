/** Kinds of tools that have a label or a view of their own. */
export type ToolKind =
  | "shell"
  | "edit"
  | "read"
  | "search"
  | "todos"
  | "web"
  | "image"
  | "mcp"
  | "question"
  | "plan"
  | "run"
  | "script";

/** The names of tools by kind, in lower case. MCP tools have a prefix instead. */
const NAMES: Readonly<Record<Exclude<ToolKind, "mcp">, string>> = {
  shell:
    "bash shell exec_command write_stdin local_shell local_shell_call container.exec run_shell_command run_terminal " +
    "run_terminal_cmd run_terminal_command run_in_terminal run_command run_commands execute execute_bash execute_command " +
    "shell_command powershell terminal",
  edit:
    "edit multiedit write notebookedit apply_patch str_replace str_replace_editor str_replace_based_edit_tool create_file " +
    "write_file edit_file replace patch",
  read: "read read_file read_files view cat notebookread read_many_files",
  search:
    "grep glob ls list_dir list_directory grep_files search_files search_file_content codebase_search toolsearch",
  todos: "todowrite todoread update_plan taskcreate taskupdate tasklist taskget write_todos",
  web: "webfetch websearch web_search web_fetch web_search_call google_web_search fetch",
  image: "view_image image_generation image_generation_call screenshot computer",
  question: "ask askuserquestion request_user_input ask_user ask_followup_question question",
  plan: "exitplanmode exit_plan_mode",
  run: "task agent spawn_agent send_input wait_agent close_agent dispatch_agent sendmessage taskoutput workflow",
  script: "exec python code_interpreter execute_code run_code js javascript",
};

const KINDS = new Map<string, ToolKind>(
  (Object.keys(NAMES) as Exclude<ToolKind, "mcp">[]).flatMap((kind) =>
    NAMES[kind].split(" ").map((name) => [name, kind] as const),
  ),
);

/** The kind of a tool, by its name in any case. `undefined`: it is not known. */
export function toolKind(tool_name: string): ToolKind | undefined {
  const name = tool_name.toLowerCase();
  return KINDS.get(name) ?? (/^mcp__.+__./.test(name) ? "mcp" : undefined);
}

/** The words of labels, which the page translates. */
export interface ToolWords {
  readonly shell: string;
  readonly edit: string;
  readonly write: string;
  readonly read: string;
  readonly todo: string;
  readonly plan: string;
  readonly question: string;
  readonly viewImage: string;
}
const ENGLISH: ToolWords = {
  shell: "Shell",
  edit: "Edit",
  write: "Write",
  read: "Read",
  todo: "Todo",
  plan: "Plan",
  question: "Question",
  viewImage: "View image",
};

/**
 * The label of a tool wherever its calls are shown or listed, derived from its name. An MCP tool is named without its server.
 * `kind`: the kind of its result, if that is known.
 */
export function toolLabel(tool_name: string, words: ToolWords = ENGLISH, kind = toolKind(tool_name)): string {
  const hasOwnLabel = /^[A-Z]/.test(tool_name);
  switch (kind) {
    case "shell":
      return shellLabel(tool_name, words);
    case "edit":
      if (hasOwnLabel) return tool_name;
      return /^(?:write|create)/.test(tool_name) ? words.write : words.edit;
    case "read":
      return hasOwnLabel ? tool_name : words.read;
    case "search":
    case "run":
      return capitalized(tool_name);
    case "todos":
      if (tool_name === "update_plan") return words.plan;
      return tool_name === "TodoWrite" ? words.todo : capitalized(tool_name);
    case "web":
      if (hasOwnLabel) return tool_name;
      return /search/i.test(tool_name) ? "WebSearch" : "WebFetch";
    case "image":
      return tool_name === "view_image" ? words.viewImage : tool_name;
    case "mcp":
      return tool_name.replace(/^mcp__.+?__/, "");
    case "question":
      return words.question;
    case "plan":
      return words.plan;
    case "script":
      // Codex runs commands through scripts.
      return tool_name === "exec" ? words.shell : tool_name;
    case undefined:
      return tool_name;
  }
  return kind satisfies never;
}

/** A label that includes the server of an MCP tool, for text that does not name it elsewhere. */
export const fullToolLabel = (tool_name: string): string =>
  toolKind(tool_name) === "mcp" ? tool_name : toolLabel(tool_name);

function shellLabel(tool_name: string, { shell }: ToolWords): string {
  const name = tool_name.toLowerCase();
  if (name === "bash") return "Bash";
  if (name === "powershell") return "PowerShell";
  return /exec|shell|command|terminal|^write_stdin$/.test(name) ? shell : tool_name;
}

/** A single lower-case word is capitalized. */
function capitalized(tool_name: string): string {
  return /^[a-z]+$/.test(tool_name) ? tool_name.charAt(0).toUpperCase() + tool_name.slice(1) : tool_name;
}
