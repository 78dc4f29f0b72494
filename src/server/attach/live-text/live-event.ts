/** What an agent in a terminal reports while it works. Ids are the agent's own. */
export type LiveEvent = {
  /** Session id in Verbatim. */
  session_id: string;
  /** Time of the event in milliseconds since 1970, by this machine's clock. */
  at: number;
} & (
  | {
      /** A text or thought begins. Deltas without a reported start are ignored, because the beginning of the text is missing. */
      type: "start";
      id: string;
      kind: "text" | "thinking";
      /** The transcript part of its record, if it can be known. */
      part_id?: string;
    }
  /** A tool call begins to run. `id`: its `tool_call_id`. */
  | { type: "start"; id: string; kind: "output" }
  /** Appends to a text, thought or output. */
  | { type: "delta"; id: string; text: string }
  /** A text, thought or call is complete. `text`: the complete text, if the agent repeats it. */
  | { type: "end"; id: string; text?: string }
  /** The turn has ended, or the connection to the agent is lost. */
  | { type: "turn_end" }
);
