import { visible } from "../../ui/hidden-text.tsx";
import { shortPath, type ToolCard, text } from "./card.ts";
import { toolLabel } from "./tool-label.ts";

/** An image that the agent viewed or created. The image itself is in the result's media, which every card shows. */
export const imageCard: ToolCard = {
  payloads: [],
  kind: "image",
  summary: ({ call, input, cwd }) => {
    const path = text(input, "path", "file_path", "prompt", "action") ?? "";
    return {
      label: toolLabel(call.tool_name, "image"),
      subject: visible(shortPath(path, cwd), "name"),
      title: path,
    };
  },
};
