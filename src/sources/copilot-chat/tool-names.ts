import { asText, type JsonObject } from "../../model/narrow.ts";
import { own } from "../conversation/own.ts";

/**
 * The model's names of tools that VS Code knows under another id (`ContributedToolName` in microsoft/vscode,
 * extensions/copilot/src/extension/tools/common/toolNames.ts).
 */
const NAMES: Readonly<Record<string, string>> = {
  copilot_applyPatch: "apply_patch",
  copilot_searchCodebase: "semantic_search",
  copilot_searchWorkspaceSymbols: "search_workspace_symbols",
  copilot_getVSCodeAPI: "get_vscode_api",
  copilot_findFiles: "file_search",
  copilot_findTextInFiles: "grep_search",
  copilot_readFile: "read_file",
  copilot_viewImage: "view_image",
  copilot_listDirectory: "list_dir",
  copilot_getErrors: "get_errors",
  copilot_getChangedFiles: "get_changed_files",
  copilot_readProjectStructure: "read_project_structure",
  copilot_createNewWorkspace: "create_new_workspace",
  copilot_createNewJupyterNotebook: "create_new_jupyter_notebook",
  copilot_insertEdit: "insert_edit_into_file",
  copilot_createFile: "create_file",
  copilot_createDirectory: "create_directory",
  copilot_replaceString: "replace_string_in_file",
  copilot_multiReplaceString: "multi_replace_string_in_file",
  copilot_editNotebook: "edit_notebook_file",
  copilot_editFiles: "edit_files",
  copilot_runNotebookCell: "run_notebook_cell",
  copilot_readNotebookCellOutput: "read_notebook_cell_output",
  copilot_installExtension: "install_extension",
  copilot_fetchWebPage: "fetch_webpage",
  copilot_memory: "memory",
  copilot_findTestFiles: "test_search",
  copilot_getProjectSetupInfo: "get_project_setup_info",
  copilot_githubRepo: "github_repo",
  copilot_githubTextSearch: "github_text_search",
  copilot_createAndRunTask: "create_and_run_task",
  copilot_runVscodeCommand: "run_vscode_command",
  copilot_switchAgent: "switch_agent",
  copilot_resolveMemoryFileUri: "resolve_memory_file_uri",
  copilot_sessionStoreSql: "session_store_sql",
};

/** The model's name of an invocation's tool. `undefined`: it has no id. */
export function toolName({ toolId }: JsonObject): string | undefined {
  const id = asText(toolId);
  return own(NAMES, id) ?? id;
}

/** Tools that change files through the editor, whose edits follow their invocation in the response. */
const EDITS = new Set([
  "apply_patch",
  "create_file",
  "edit_files",
  "edit_notebook_file",
  "insert_edit_into_file",
  "multi_replace_string_in_file",
  "replace_string_in_file",
  "vscode_editFile_internal",
]);

export const isEditTool = (name: string | undefined): boolean => name !== undefined && EDITS.has(name);

/** Names under which other agents' tools with the same arguments are known. */
const SIMILAR: Readonly<Record<string, string>> = {
  run_in_terminal: "bash",
  manage_todo_list: "todowrite",
  runSubagent: "task",
  vscode_askQuestions: "askuserquestion",
  ask_questions: "askuserquestion",
};

export const similarTool = (name: string): string => own(SIMILAR, name) ?? name;
