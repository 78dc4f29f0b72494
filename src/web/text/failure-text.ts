import type { ApiFailure } from "../api/requests.ts";
import { t } from "./text.ts";

/** One sentence for a person. */
export function failureText(failure: ApiFailure): string {
  switch (failure.code) {
    case "unauthorized":
      return t.failure.unauthorized;
    case "offline":
      return t.failure.offline;
    case "refused": {
      const message = sentence(failure.message);
      return failure.remedy === undefined ? message : `${message} ${failure.remedy}`;
    }
  }
  return failure satisfies never;
}

const FIELD = /^`([\w.]+)`: /;
/** The field that a refusal is about: the daemon names it first. */
export const refusedField = (message: string): string | undefined => FIELD.exec(message)?.[1];
function sentence(message: string): string {
  const words = message.replace(FIELD, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
