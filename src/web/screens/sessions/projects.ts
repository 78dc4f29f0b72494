import { repositoryName } from "../../../model/repository.ts";
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

/** A worktree that an agent or the user created for a task. */
interface Worktree {
  /** Its name among the worktrees of its repository. */
  readonly name: string;
  /** The folder of its repository, if the worktree's path contains it. */
  readonly base?: string;
  /** The name of its repository, if the path contains only that. */
  readonly of?: string;
}

/** Claude Code: `<base>/.claude/worktrees/<name>`. A common convention: `<base>/.worktrees/<name>`. */
const INSIDE = /[/\\]\.(?:claude[/\\])?worktrees[/\\]([^/\\]+)/;
/** Codex: `~/.codex/worktrees/<name>/<of>`. */
const CODEX = /[/\\]\.codex[/\\]worktrees[/\\]([^/\\]+)[/\\]([^/\\]+)/;
/** Cursor: `~/.cursor/worktrees/<of>/<name>`. */
const CURSOR = /[/\\]\.cursor[/\\]worktrees[/\\]([^/\\]+)[/\\]([^/\\]+)/;

function worktreeOf(folder: string): Worktree | undefined {
  // A fast path: in a long list, nearly all folders are not worktrees.
  if (!folder.includes("worktrees")) return undefined;
  const inside = INSIDE.exec(folder);
  if (inside?.[1] !== undefined && inside.index > 0)
    return { name: inside[1], base: folder.slice(0, inside.index) };
  const [, id, project] = CODEX.exec(folder) ?? [];
  if (id !== undefined && project !== undefined) return { name: id, of: project };
  const [, called, task] = CURSOR.exec(folder) ?? [];
  return called === undefined || task === undefined ? undefined : { name: task, of: called };
}

/** A repository as a title. `github.com/` is left out, because it is the usual host. */
const repositoryTitle = (name: string): string =>
  name.startsWith("/") ? shortPath(name) : name.replace(/^github\.com\//, "");

const repositoryOf = ({ repository }: SessionSummary): string | undefined =>
  repository === undefined ? undefined : (repositoryName(repository) ?? repository);

/** The repository of each folder, as recorded by its sessions. If they differ, the most recent one. */
function recordedRepositories(rows: Iterable<SessionSummary>): Map<string, string> {
  const found = new Map<string, { at: number; repository: string }>();
  for (const row of rows) {
    const { cwd, last_activity_at: at } = row;
    const repository = repositoryOf(row);
    if (cwd === undefined || repository === undefined) continue;
    const { base } = worktreeOf(cwd) ?? {};
    for (const folder of base === undefined ? [cwd] : [cwd, base])
      if ((found.get(folder)?.at ?? Number.NEGATIVE_INFINITY) < at) found.set(folder, { at, repository });
  }
  return new Map([...found].map(([folder, { repository }]) => [folder, repository]));
}

type Named = Pick<Project, "key" | "title">;

/** A row's project: the repository recorded for the row or its folder or, if there is none, what its path shows. */
function namedProject(row: SessionSummary, repositories: ReadonlyMap<string, string>): Named {
  const { cwd } = row;
  const worktree = cwd === undefined ? undefined : worktreeOf(cwd);
  // A worktree may be inside another worktree.
  const within = worktree?.base === undefined ? undefined : worktreeOf(worktree.base);
  const folder = worktree?.base ?? cwd;
  const repository = repositoryOf(row) ?? repositories.get(cwd ?? "") ?? repositories.get(folder ?? "");
  if (repository !== undefined)
    return { key: `repository ${repository.toLowerCase()}`, title: repositoryTitle(repository) };
  const name = worktree?.of ?? within?.of;
  if (name !== undefined) return { key: `name ${name}`, title: name };
  if (folder === undefined || folder === "") return { key: "", title: t.sessions.noFolder };
  return { key: `folder ${folder}`, title: shortPath(folder) };
}

/** Returns a function that maps a row of the list to its project. */
export function projectsOf(rows: ReadonlyMap<string, SessionSummary>): (row: SessionSummary) => Project {
  const repositories = recordedRepositories(rows.values());
  const known = new Map<string, Named>();
  const nameOf = (row: SessionSummary): Named => {
    const facts = `${row.repository ?? ""}\0${row.cwd ?? ""}`;
    const name = known.get(facts) ?? namedProject(row, repositories);
    known.set(facts, name);
    return name;
  };
  const counts = new Map<string, Map<string, number>>();
  for (const row of rows.values()) {
    if (row.cwd === undefined) continue;
    const { key } = nameOf(row);
    const folders = counts.get(key) ?? new Map<string, number>();
    counts.set(key, folders);
    // Runs do not count: they are usually in the folder of their session.
    folders.set(row.cwd, (folders.get(row.cwd) ?? 0) + (row.parent === undefined ? 1 : 0));
  }
  const projects = new Map<string, Project>();
  return (row) => {
    const { key, title } = nameOf(row);
    let project = projects.get(key);
    if (project === undefined) {
      const folders = [...(counts.get(key) ?? [])]
        .sort(([a, one], [b, other]) => other - one || a.length - b.length || (a < b ? -1 : 1))
        .map(([folder]) => folder);
      project = { key, title, folders, main: folders.find((each) => worktreeOf(each) === undefined) };
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
