import type { ApiFailure } from "../api/requests.ts";
import { sentences, translatedText } from "./daemon-text.ts";
import { t } from "./text.ts";

/** A message for the user about a failed request. */
export function failureText(failure: ApiFailure): string {
  switch (failure.code) {
    case "unauthorized":
      return t.failure.unauthorized;
    case "offline":
      return t.failure.offline;
    case "refused": {
      const message = sentence(translatedText(failure.message, failure.message_code));
      return failure.remedy === undefined
        ? message
        : sentences(message, translatedText(failure.remedy, failure.remedy_code));
    }
  }
  return failure satisfies never;
}

const FIELD = /^`([\w.]+)`: /;
/** The field that an error message of the daemon is about, which it names at the beginning. */
export const refusedField = (message: string): string | undefined => FIELD.exec(message)?.[1];
/** Begins with a capital letter, unless it quotes what was written, such as `kind:x`. */
function sentence(message: string): string {
  const words = message.replace(FIELD, "");
  if (/^\w+:\S/.test(words)) return words;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
