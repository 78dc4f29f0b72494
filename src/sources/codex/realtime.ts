import { asString, type JsonObject } from "../../model/narrow.ts";
import { codexTitle } from "../../model/text/codex-titles.ts";
import type { Disposition } from "../contract.ts";
import { hidden, SHOWN } from "./disposition.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** Reads a record of a voice conversation (`realtime_item`); `undefined`: it is of another kind. */
export function readRealtime(writer: TurnWriter, payload: JsonObject): Disposition | undefined {
  switch (payload.type) {
    case "realtime_session_started":
      writer.marker("note", codexTitle("voice_started"));
      return SHOWN;
    case "transcript_segment":
      writer.marker(
        "note",
        codexTitle(payload.role === "user" ? "voice_user" : "voice_assistant"),
        asString(payload.text),
      );
      return SHOWN;
    case "realtime_session_closed":
      writer.marker("note", codexTitle(payload.outcome === "failed" ? "voice_failed" : "voice_ended"));
      return SHOWN;
    case "bem_item_promoted":
      return hidden("item repeated by voice");
    default:
      return undefined;
  }
}
