import { toolLabel as labelOf, type ToolKind } from "../../../model/parts/tool-label.ts";
import { t } from "../../text/text.ts";

/** What a tool is called, in the page's language. `kind`: the kind of its result, if that is known. */
export const toolLabel = (tool_name: string, kind?: ToolKind): string => labelOf(tool_name, t.cards, kind);
