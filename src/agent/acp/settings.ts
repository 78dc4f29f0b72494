import type { FrameBody } from "../../model/frames/frame-writer.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../model/narrow.ts";
import { agentTitle } from "../../model/text/agent-titles.ts";
import { titleFields } from "../../model/text/titles.ts";

/** The settings of a session: its mode, its model, and the agent's other options. */
export interface Settings {
  /** The id of the option that sets the model, if the agent has one. */
  readonly model_option: string | undefined;
  /** Reads the reply to `session/new` or `session/load`. */
  pushSession(answer: unknown): void;
  /** Reads a `current_mode_update` or `config_option_update`. Emits nothing if nothing changed. */
  push(update: JsonObject): void;
}

/** Some agents report a setting twice: as `modes` or `models`, and as an option. Each change is emitted once. */
export function createSettings(put: (body: FrameBody) => void, newId: () => string): Settings {
  const values = new Map<string, string>();
  const names = new Map<string, string>();
  let model_option: string | undefined;

  const set = (setting: string, value: string, isFirst: boolean, raw: unknown): void => {
    const before = values.get(setting);
    if (before === value) return;
    values.set(setting, value);
    const isModel = setting === "model";
    if (isModel) put({ type: "session.update", patch: { model: value } });
    if (isFirst && before === undefined) return;
    const name = names.get(`${setting} ${value}`) ?? value;
    const title = isModel
      ? agentTitle("model_is", { model: name })
      : setting === "mode"
        ? agentTitle("mode_is", { mode: name })
        : `${names.get(`option ${setting}`) ?? setting}: ${name}`;
    put({
      type: "marker",
      kind: isModel ? "model_switch" : "note",
      part_id: newId(),
      ...titleFields(title),
      data: raw,
    });
  };

  const readOptions = (options: unknown, isFirst: boolean): void => {
    for (const item of asArray(options)) {
      const option = asObject(item);
      const id = asString(option?.id);
      if (option === undefined || id === undefined) continue;
      const category = asString(option.category);
      const setting = category === "model" || category === "mode" ? category : id;
      if (category === "model") model_option = id;
      names.set(`option ${setting}`, asText(option.name) ?? id);
      for (const choice of asArray(option.options).map(asObject)) {
        const value = asString(choice?.value);
        const name = asText(choice?.name);
        if (value !== undefined && name !== undefined) names.set(`${setting} ${value}`, name);
      }
      const { currentValue } = option;
      if (typeof currentValue === "string" || typeof currentValue === "boolean") {
        set(setting, String(currentValue), isFirst, option);
      }
    }
  };

  return {
    get model_option() {
      return model_option;
    },
    pushSession(answer) {
      const reply = asObject(answer);
      const modes = asObject(reply?.modes);
      for (const mode of asArray(modes?.availableModes).map(asObject)) {
        const id = asString(mode?.id);
        const name = asText(mode?.name);
        if (id !== undefined && name !== undefined) names.set(`mode ${id}`, name);
      }
      readOptions(reply?.configOptions, true);
      const mode = asString(modes?.currentModeId);
      if (mode !== undefined) set("mode", mode, true, modes);
      const model = asString(asObject(reply?.models)?.currentModelId);
      if (model !== undefined) set("model", model, true, reply?.models);
    },
    push(update) {
      if (update.sessionUpdate === "config_option_update") readOptions(update.configOptions, false);
      const mode = asString(update.currentModeId);
      if (mode !== undefined) set("mode", mode, false, update);
    },
  };
}
