import type { JsonObject } from "../../model/narrow.ts";

/** A piece of model output with calls written as tags in its text. */
export type TextSegment =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | { kind: "call"; name: string; input: JsonObject };

const TOOLS =
  "access_mcp_resource apply_diff apply_patch ask_followup_question attempt_completion browser_action codebase_search condense " +
  "edit_file execute_command fetch_instructions generate_image insert_content list_code_definition_names list_files " +
  "load_mcp_documentation new_rule new_task plan_mode_respond read_file replace_in_file report_bug run_slash_command " +
  "search_and_replace search_files search_replace skill switch_mode update_todo_list use_mcp_tool web_fetch web_search write_to_file";
const TAGS = new RegExp(`^[ \\t]*<(thinking|${TOOLS.replaceAll(" ", "|")})>([\\s\\S]*?)</\\1>`, "gm");
const PARAMETER = /<([a-z_]+)>\n?([\s\S]*?)\n?<\/\1>/g;

/** Extracts calls and thoughts from a text. Unclosed tags remain text. */
export function splitXmlCalls(text: string): TextSegment[] {
  const found: TextSegment[] = [];
  const appendText = (fragment: string) => {
    if (fragment.trim() !== "") found.push({ kind: "text", text: fragment.trim() });
  };
  let at = 0;
  for (const { 0: whole, 1: name = "", 2: body = "", index } of text.matchAll(TAGS)) {
    appendText(text.slice(at, index));
    at = index + whole.length;
    if (name === "thinking") found.push({ kind: "thinking", text: body.trim() });
    else found.push({ kind: "call", name, input: inputOf(body) });
  }
  // A text without such tags is unchanged.
  if (at === 0) return text.trim() === "" ? [] : [{ kind: "text", text }];
  appendText(text.slice(at));
  return found;
}

function inputOf(body: string): JsonObject {
  return Object.fromEntries([...body.matchAll(PARAMETER)].map(([, name = "", value = ""]) => [name, value]));
}
