import { resolve } from "node:path";
import { sharedData } from "../shared-data.ts";
import type { Corpora } from "./target.ts";

const here = import.meta.dirname;
const present = (paths: readonly (string | undefined)[]) => paths.filter((path) => path !== undefined);

/** The samples that ship and the tests' own files; real sessions and recorded streams where the machine has them. */
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
