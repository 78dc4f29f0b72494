import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { named, shortPath, type ToolCard, text } from "./card.ts";

/** An image that the agent viewed or made. The image itself is among the result's media, which every card shows. */
export const imageCard: ToolCard = {
  payloads: [],
  matches: named("view_image", "image_generation", "image_generation_call", "screenshot", "computer"),
  summary: ({ call, input, cwd }) => {
    const path = text(input, "path", "file_path", "prompt", "action") ?? "";
    return {
      label: call.tool_name === "view_image" ? t.cards.viewImage : call.tool_name,
      subject: visible(shortPath(path, cwd), "name"),
      title: path,
    };
  },
};
