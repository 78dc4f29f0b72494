import { isUuid } from "../../model/is-uuid.ts";
import { uuidFrom } from "../../model/uuid.ts";

/** The id of a session from klaude-code's name for it, a UUID without hyphens. */
export function idOf(name: string): string {
  const [, ...groups] = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(name) ?? [];
  const id = (groups.length === 5 ? groups.join("-") : name).toLowerCase();
  return isUuid(id) ? id : uuidFrom("klaude-code", name);
}
