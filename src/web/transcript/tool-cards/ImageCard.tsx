import { t } from "../../text/text.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { named, shortPath, type ToolCard, text } from "./card.ts";

/** An image that the agent viewed or created. The image itself is in the result's media, which every card shows. */
export const imageCard: ToolCard = {
  payloads: [],
  matches: named("view_image", "image_generation", "image_generation_call", "screenshot", "computer"),
  nameOf: label,
  summary: ({ call, input, cwd }) => {
    const path = text(input, "path", "file_path", "prompt", "action") ?? "";
    return {
      label: label(call.tool_name),
      subject: visible(shortPath(path, cwd), "name"),
      title: path,
    };
  },
};

function label(name: string): string {
  return name === "view_image" ? t.cards.viewImage : name;
}
