import { messageOf } from "../../model/narrow.ts";
import { daemonText } from "../../model/text/daemon-texts.ts";
import type { FileBackedSessions } from "../import/catalog.ts";
import type { SourceChoices } from "../import/source-choices.ts";
import { Refused } from "../sessions/refused.ts";
import type { Sources } from "../sessions/sources.ts";

/** The switches of the agents. `is_writable`: this daemon has the data folder's lock. */
export function createSources(options: {
  found: Pick<FileBackedSessions, "describeSources">;
  choices: SourceChoices;
  is_writable: boolean;
}): Sources {
  const { found, choices, is_writable } = options;
  return {
    list: found.describeSources,
    async change(agent, is_on) {
      const known = (await found.describeSources()).some((source) => source.agent === agent);
      if (!known) return undefined;
      if (!is_writable)
        throw new Refused(409, "read_only", daemonText("other_daemon"), daemonText("change_there"));
      try {
        choices.set(agent, is_on);
      } catch (error) {
        throw new Refused(
          503,
          "disk",
          daemonText("choice_not_stored", { error: messageOf(error) }),
          daemonText("free_space_and_check"),
        );
      }
      return (await found.describeSources()).find((source) => source.agent === agent);
    },
  };
}
