import { repositoryName } from "./repository.ts";
import type { SessionSummary } from "./session.ts";

/**
 * What sessions of one project have in common: their repository (`host/owner/name`, or the path of a local one), the name of a
 * repository whose worktrees they are in, or their folder.
 */
export type ProjectName = { kind: "repository" | "worktrees" | "folder"; name: string } | { kind: "none" };

/** The fields of a session's row that determine its project. */
export type ProjectFacts = Pick<SessionSummary, "cwd" | "repository" | "last_activity_at">;

/** A string that is equal for equal projects, and stable. Repositories are equal whatever the case of their names. */
export function projectKey(project: ProjectName): string {
  if (project.kind === "none") return "";
  return `${project.kind} ${project.kind === "repository" ? project.name.toLowerCase() : project.name}`;
}

/** The name of a project without the host `github.com`, which is the usual one. Empty: no folder is known. */
export function plainProjectName(project: ProjectName): string {
  if (project.kind === "none") return "";
  return project.kind === "repository" ? project.name.replace(/^github\.com\//, "") : project.name;
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

/** The worktree that a folder is in, as its path shows. */
export function worktreeOf(folder: string): Worktree | undefined {
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

const repositoryOf = ({ repository }: ProjectFacts): string | undefined =>
  repository === undefined ? undefined : (repositoryName(repository) ?? repository);

/** The repository of each folder, as recorded by its sessions. If they differ, the most recent one. */
function recordedRepositories(rows: Iterable<ProjectFacts>): Map<string, string> {
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

/**
 * Returns a function that names the project of a row: the repository that was recorded for the row or its folder or, if there is
 * none, what the path of its folder shows.
 */
export function projectNames(rows: Iterable<ProjectFacts>): (row: ProjectFacts) => ProjectName {
  const repositories = recordedRepositories(rows);
  const known = new Map<string, ProjectName>();
  return (row) => {
    const facts = `${row.repository ?? ""}\0${row.cwd ?? ""}`;
    const name = known.get(facts) ?? projectName(row, repositories);
    known.set(facts, name);
    return name;
  };
}

function projectName(row: ProjectFacts, repositories: ReadonlyMap<string, string>): ProjectName {
  const { cwd } = row;
  const worktree = cwd === undefined ? undefined : worktreeOf(cwd);
  // A worktree may be inside another worktree.
  const within = worktree?.base === undefined ? undefined : worktreeOf(worktree.base);
  const folder = worktree?.base ?? cwd;
  const repository = repositoryOf(row) ?? repositories.get(cwd ?? "") ?? repositories.get(folder ?? "");
  if (repository !== undefined) return { kind: "repository", name: repository };
  const name = worktree?.of ?? within?.of;
  if (name !== undefined) return { kind: "worktrees", name };
  return folder === undefined || folder === "" ? { kind: "none" } : { kind: "folder", name: folder };
}
