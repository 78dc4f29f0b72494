import fc from "fast-check";
import { expect, test } from "vitest";
import { repositoryName } from "../../src/model/repository.ts";

test.each([
  "https://github.com/jdx/mise",
  "https://github.com/jdx/mise.git",
  "https://github.com/jdx/mise.git/",
  "https://GitHub.com:443/jdx/mise",
  "https://token:x@github.com/jdx/mise.git",
  "https://user@name:to@ken@github.com/jdx/mise.git",
  "git@github.com:jdx/mise.git",
  "github.com:jdx/mise",
  "ssh://git@github.com:22/jdx/mise.git",
  "git+ssh://git@github.com/jdx/mise",
  "git://github.com/jdx/mise.git",
  "github.com/jdx/mise",
  " https://github.com/jdx/mise\n",
])("%j is the repository github.com/jdx/mise", (remote) => {
  expect(repositoryName(remote)).toBe("github.com/jdx/mise");
});

test.each([
  ["https://gitlab.com/group/sub/name.git", "gitlab.com/group/sub/name"],
  ["ssh://git@[::1]:2222/boat.git", "[::1]/boat"],
  ["git@build:boat.git", "build/boat"],
  ["/srv/git/boat.git", "/srv/git/boat"],
  ["file:///srv/git/boat.git", "/srv/git/boat"],
])("%j is the repository %j", (remote, name) => {
  expect(repositoryName(remote)).toBe(name);
});

test.each([
  "",
  "/",
  "boat",
  "../boat",
  "https://github.com",
  "https://github.com/",
  "[trimmed for fixture]",
  "C:\\boat",
])("%j names no repository", (remote) => {
  expect(repositoryName(remote)).toBeUndefined();
});

test("a name has no credentials, and is its own name", () => {
  const word = fc.stringMatching(/^[a-z\d_-]{1,8}$/);
  fc.assert(
    fc.property(word, word, word, word, (user, secret, owner, name) => {
      const found = repositoryName(`https://${user}:${secret}@git.example.org/${owner}/${name}.git`);
      expect(found).toBe(`git.example.org/${owner}/${name}`);
      expect(repositoryName(found ?? "")).toBe(found);
    }),
  );
});
