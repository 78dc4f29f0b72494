import type { JsonObject } from "../../../model/narrow.ts";
import type { Answer, Request } from "../../../model/request.ts";

/** What a request asks for, in the forms of the page. */
export interface Asked {
  requests: Request[];
  /** The result of the JSON-RPC reply. */
  resultOf(answers: ReadonlyMap<string, Answer>): JsonObject;
}
