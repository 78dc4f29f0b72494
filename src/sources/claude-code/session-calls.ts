import { IN_MEMORY_LIST } from "../recent.ts";
import { type Call, setInput } from "./call-table.ts";
import { MAX_START_PROMPTS, MAX_STARTS } from "./memory.ts";
import type { Session, SessionFunctions, StartFact } from "./session-types.ts";

/** The tool calls of a session. */
export function callFunctions(
  session: Session,
): Pick<
  SessionFunctions,
  | "addCall"
  | "addStart"
  | "linkFacts"
  | "callNamed"
  | "callAnswered"
  | "answer"
  | "isOfThisTurn"
  | "openCalls"
  | "recordParent"
> {
  const { own } = session;
  /** Calls that were evicted from `session.starts`. */
  const olderStarts: StartFact[] = [];
  return {
    addCall(named, given, input, json) {
      const { id, tool_name, message_id, part_id } = given;
      const call: Call = {
        id,
        tool_name,
        message_id,
        part_id,
        arguments_json: json,
        hasInput: false,
        progress: "",
        turn: own.turns,
        waits: true,
      };
      setInput(call, input, json);
      own.calls.add(named, call);
      return call;
    },

    addStart(start) {
      session.starts.push(start);
      let length = session.starts.reduce((sum, { prompt }) => sum + (prompt?.length ?? 0), 0);
      while (
        session.starts.length > MAX_STARTS * IN_MEMORY_LIST ||
        (length > MAX_START_PROMPTS * IN_MEMORY_LIST && session.starts.length > 1)
      ) {
        const oldest = session.starts.shift();
        if (oldest === undefined) break;
        length -= oldest.prompt?.length ?? 0;
        olderStarts.push(oldest);
      }
    },

    linkFacts() {
      const { group, run } = session.facts;
      const all = [...olderStarts, ...session.starts];
      return { session_id: session.session_id, group, calls: all, ...(run !== undefined && { run }) };
    },

    callNamed: (named) => own.calls.named(named),
    callAnswered: (named) => own.calls.answered(named),
    answer(line, call, signature, place) {
      session.answered = call;
      own.calls.answer(call, signature, place ?? call.result?.place ?? line.place);
    },

    isOfThisTurn: (call) => call.turn === own.turns,
    openCalls: () => own.calls.open,
    recordParent: (uuid, parent) => own.branches.recordParent(uuid, parent),
  };
}
