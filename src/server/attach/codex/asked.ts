import type { JsonObject } from "../../../model/narrow.ts";
import type { Answer, Request } from "../../../model/request.ts";
import type { DisplayText } from "../../../model/text/display-text.ts";

/** What a request asks for, in the forms of the page. */
export interface Asked {
  requests: Request[];
  /** Why an answer to one of them cannot be sent. `undefined`: it can. */
  problemOf?(request_id: string, answer: Answer): DisplayText | undefined;
  /** Whether the answers suffice for the result. Absent: once each request is answered. */
  isComplete?(answers: ReadonlyMap<string, Answer>): boolean;
  /** The result of the JSON-RPC reply. */
  resultOf(answers: ReadonlyMap<string, Answer>): JsonObject;
}
