import { readFile } from "node:fs/promises";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { Part } from "../../model/messages/part.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import type { CodedText } from "../../model/text/catalog.ts";

/** What an agent accepts in a prompt besides text and links. */
export interface PromptCapabilities {
  image: boolean;
  embeddedContext: boolean;
}

/** A prompt in the protocol's form, and titles about content that the agent does not accept. */
export async function promptBlocks(
  parts: readonly Part[],
  can: PromptCapabilities,
): Promise<{ blocks: ContentBlock[]; left_out: CodedText[] }> {
  const blocks: ContentBlock[] = [];
  const left_out: CodedText[] = [];
  for (const part of parts) {
    switch (part.type) {
      case "text":
        blocks.push({ type: "text", text: part.text });
        break;
      case "image_url": {
        const data = readDataUrl(part.url);
        if (data === undefined) blocks.push(link(part.url, "image"));
        else if (can.image) blocks.push({ type: "image", mimeType: data.mime, data: data.base64 });
        else left_out.push(agentTitle("image_not_sent"));
        break;
      }
      case "image_file": {
        if (!can.image) {
          left_out.push(agentTitle("image_file_not_sent", { path: part.file_path }));
          break;
        }
        const bytes = await readFile(part.file_path).catch(() => undefined);
        if (bytes === undefined)
          left_out.push(agentTitle("unreadable_file_not_sent", { path: part.file_path }));
        else {
          const mimeType = part.mime_type ?? "image/png";
          blocks.push({ type: "image", mimeType, data: bytes.toString("base64") });
        }
        break;
      }
      case "file": {
        const data = readDataUrl(part.url);
        const name = part.filename ?? "attachment";
        if (data === undefined) blocks.push(link(part.url, name));
        else if (can.embeddedContext) {
          const uri = `attachment:///${encodeURIComponent(name)}`;
          const resource = /^(text\/|application\/json)/.test(data.mime)
            ? { uri, mimeType: data.mime, text: Buffer.from(data.base64, "base64").toString("utf8") }
            : { uri, mimeType: data.mime, blob: data.base64 };
          blocks.push({ type: "resource", resource });
        } else left_out.push(agentTitle("attachment_not_sent", { name: part.filename }));
        break;
      }
      // These never occur in prompts.
      case "thinking_text":
      case "thinking_signature":
      case "tool_call":
      case "unknown":
        left_out.push(agentTitle("part_not_sent", { type: part.type }));
        break;
      default:
        part satisfies never;
    }
  }
  return { blocks, left_out };
}

function link(uri: string, name: string): ContentBlock {
  return { type: "resource_link", uri, name };
}

function readDataUrl(url: string): { mime: string; base64: string } | undefined {
  const comma = url.indexOf(",");
  if (!url.startsWith("data:") || comma < 0) return undefined;
  const head = url.slice("data:".length, comma);
  const body = url.slice(comma + 1);
  const [mime] = head.split(";", 1);
  const base64 = head.endsWith(";base64") ? body : Buffer.from(unescaped(body), "utf8").toString("base64");
  return { mime: mime || "application/octet-stream", base64 };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
