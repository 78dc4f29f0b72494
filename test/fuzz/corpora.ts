import { resolve } from "node:path";
import { sharedData } from "../shared-data.ts";
import type { Corpora } from "./target.ts";

const here = import.meta.dirname;
const present = (paths: readonly (string | undefined)[]) => paths.filter((path) => path !== undefined);

/** The shipped samples and the test fixtures, and real sessions and recorded streams if the machine has them. */
export const corpora: Corpora = {
  sessions: present([
    resolve(here, "../../src/server/samples"),
    resolve(here, "../fixtures"),
    sharedData("corpus", "claude-code"),
    sharedData("corpus", "codex"),
    sharedData("corpus", "recorded"),
  ]),
  streams: present([resolve(here, "../providers/fixtures"), sharedData("streams")]),
};
