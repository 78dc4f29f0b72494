import { asText } from "../../model/narrow.ts";
import { uuidFrom } from "../../model/uuid.ts";

/**
 * The id of a session. Not Cursor's own, because Cursor also writes transcripts of some of these conversations, which the format
 * `cursor` reads under that id.
 */
export const idOf = (name: string): string => uuidFrom("cursor-ide", name);

/** A model's name. `default` stands for a choice that Cursor makes and does not record. */
export function modelOf(value: unknown): string | undefined {
  const model = asText(value);
  return model === "default" ? undefined : model;
}
