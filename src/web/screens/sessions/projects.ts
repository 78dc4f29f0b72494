import {
  type ProjectName,
  plainProjectName,
  projectKey,
  projectNames,
  worktreeOf,
} from "../../../model/projects.ts";
import type { SessionSummary } from "../../../model/session.ts";
import { shortPath } from "../../text/format.ts";
import { t } from "../../text/text.ts";

/** A group of sessions with the same repository or, if none is known, the same folder. */
export interface Project {
  /** Unique among all projects, and stable. */
  readonly key: string;
  readonly title: string;
  /** The folders of its sessions, the one with the most sessions first. */
  readonly folders: readonly string[];
  /** The folder with the most sessions that is not a worktree. */
  readonly main: string | undefined;
}

/** The name of a project as a title. */
function titleOf(project: ProjectName): string {
  const name = plainProjectName(project);
  if (name === "") return t.sessions.noFolder;
  return project.kind === "folder" || name.startsWith("/") ? shortPath(name) : name;
}

/** Returns a function that maps a row of the list to its project. */
export function projectsOf(rows: ReadonlyMap<string, SessionSummary>): (row: SessionSummary) => Project {
  const nameOf = projectNames(rows.values());
  const counts = new Map<string, Map<string, number>>();
  for (const row of rows.values()) {
    if (row.cwd === undefined) continue;
    const key = projectKey(nameOf(row));
    const folders = counts.get(key) ?? new Map<string, number>();
    counts.set(key, folders);
    // Runs do not count: they are usually in the folder of their session.
    folders.set(row.cwd, (folders.get(row.cwd) ?? 0) + (row.parent === undefined ? 1 : 0));
  }
  const projects = new Map<string, Project>();
  return (row) => {
    const name = nameOf(row);
    const key = projectKey(name);
    let project = projects.get(key);
    if (project === undefined) {
      const folders = [...(counts.get(key) ?? [])]
        .sort(([a, one], [b, other]) => other - one || a.length - b.length || (a < b ? -1 : 1))
        .map(([folder]) => folder);
      project = {
        key,
        title: titleOf(name),
        folders,
        main: folders.find((each) => worktreeOf(each) === undefined),
      };
      projects.set(key, project);
    }
    return project;
  };
}

/**
 * A short name for a folder that is not the main one of its project: the worktree's name, or how its path differs from the main
 * folder.
 */
export function placeIn({ main, folders }: Project, folder: string | undefined): string | undefined {
  if (folder === undefined || folder === main) return undefined;
  const worktree = worktreeOf(folder);
  if (worktree !== undefined) return worktree.name;
  if (main === undefined || folders.length < 2) return undefined;
  if (folder.startsWith(main) && /[/\\]/.test(folder.charAt(main.length)))
    return folder.slice(main.length + 1);
  const names = folder.split(/[/\\]/);
  const isSame = names.at(-1) === main.split(/[/\\]/).at(-1);
  return names.slice(isSame ? -2 : -1).join("/");
}
