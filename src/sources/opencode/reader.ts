import { asNumber, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import type { RecordReader, RecordResult } from "../contract.ts";
import { EntryReading } from "./entries.ts";
import { type OpenCodeProduct, openCodeSessionId } from "./ids.ts";
import type { OpenCodeState } from "./state.ts";

const PLACEHOLDER_TITLE = /^(?:New|Child) session - \d{4}-\d{2}-\d{2}T/;
/** The agent of a session that has not switched. */
const DEFAULT_AGENTS = { opencode: "build", kilo: "code" } as const;

/** Reads the records of `stores.ts`. Part ids are derived from rows, so a revision changes its part in place. */
export const openCodeReader = readerOf("opencode");
/** As `openCodeReader`, of Kilo's sessions. */
export const kiloReader = readerOf("kilo");

function readerOf(product: OpenCodeProduct): RecordReader<OpenCodeState> {
  return {
    initialState: () => ({
      product,
      name: "",
      at: 0,
      messages: [],
      calls: [],
      agent: DEFAULT_AGENTS[product],
    }),
    sessionId: ({ session_id }) => session_id,
    read: (state, record) => new RecordReading(state, record).read(),
    end: () => [],
    linkFacts({ session_id, name, parent, calls, run_at = 0 }) {
      if (session_id === undefined) return { sessions: [] };
      const group = parent === undefined ? session_id : openCodeSessionId(parent, product);
      const run =
        parent === undefined ? undefined : { agent_key: name, parent_session_id: group, at: run_at };
      return { sessions: [{ session_id, group, calls, ...(run !== undefined && { run }) }] };
    },
  };
}

class RecordReading extends EntryReading {
  read(): RecordResult {
    const { key, value, deleted } = this.record;
    const colon = key.indexOf(":");
    const kind = colon === -1 ? key : key.slice(0, colon);
    const id = colon === -1 ? "" : key.slice(colon + 1);
    if (kind === "session") this.session(value);
    else if (deleted === true) this.deleted(kind, id);
    else if (kind === "message") this.message(id, asObject(value.data), value.reverted === true);
    else if (kind === "part")
      this.part(id, asString(value.messageID) ?? "", asObject(value.data), value.reverted === true);
    else if (kind === "finish") this.finish(id, value);
    else if (kind === "entry") this.entry(id, value);
    else this.unknown(key, value);
    return { disposition: this.disposition, frames: this.frames };
  }

  private session(value: JsonObject): void {
    const { state } = this;
    if (this.record.deleted === true) return;
    const name = asText(value.id);
    if (state.name === "" && name !== undefined) state.name = name;
    const parent = asText(value.parent_id) ?? asText(value.parentID);
    if (parent !== undefined) state.parent = parent;
    const title = asText(value.title);
    const version = asText(value.version);
    const cwd = asText(value.directory);
    const created = asNumber(value.time_created) ?? asNumber(asObject(value.time)?.created);
    if (created !== undefined) {
      state.run_at ??= created;
      if (state.at === 0) state.at = created;
    }
    // The title names the agent until 1.18.
    const name_of_run = /\(@(.+) subagent\)$/.exec(title ?? "")?.[1] ?? asText(value.agent);
    const forked = asText(value.fork_session_id);
    this.put({
      type: "session.update",
      patch: {
        agent: state.product,
        ...(version !== undefined && { agent_version: version }),
        ...(title !== undefined && !PLACEHOLDER_TITLE.test(title) && { title }),
        ...(cwd !== undefined && { cwd }),
        ...(forked !== undefined && {
          forked_from: { session_id: openCodeSessionId(forked, state.product) },
        }),
        ...(parent !== undefined && {
          parent: { session_id: openCodeSessionId(parent, state.product) },
          run: {
            ...(name_of_run !== undefined && { name: name_of_run }),
            ...(title !== undefined && { task: title.replace(/ \(@.+ subagent\)$/, "") }),
          },
        }),
      },
    });
  }
}
