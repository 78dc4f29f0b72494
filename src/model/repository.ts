/**
 * Derives a repository's name from the URL of its remote: `host/owner/name`, the same for https and ssh, without credentials and
 * port. The name of a local path is the path itself. Idempotent. `undefined`: the URL does not identify a repository.
 */
export function repositoryName(remote: string): string | undefined {
  const text = remote.trim();
  if (text.length > 1_000 || /[\s\p{Cc}]/u.test(text)) return undefined;
  const local = /^(?:file:\/\/)?(\/.+)$/.exec(text)?.[1];
  if (local !== undefined) return withoutEnd(local);
  const [, host, path] =
    /^[a-z][a-z\d+.-]*:\/\/(?:[^/]*@)?([^/:@]+|\[[^\]]+\])(?::\d+)?\/(.+)$/i.exec(text) ??
    /^(?:[^/@:]+@)?([^/@:]{2,}):(?!\/\/)\/?(.+)$/.exec(text) ??
    /^([^/@:]+\.[^/@:]+)\/(.+)$/.exec(text) ??
    [];
  if (host === undefined || path === undefined) return undefined;
  const names = (withoutEnd(path.replace(/[?#].*$/, "")) ?? "").split("/").filter(Boolean);
  // A self-hosted server may have repositories without an owner in their path.
  return names.length === 0 || names.includes("..") ? undefined : [host.toLowerCase(), ...names].join("/");
}

const withoutEnd = (path: string): string | undefined => {
  const name = path.replace(/\/+$/, "").replace(/(?:\.git)?$/i, "");
  return name === "" ? undefined : name;
};
