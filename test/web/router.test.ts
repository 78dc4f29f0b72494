import { expect, test } from "vitest";
import type { SessionState } from "../../src/model/session-state.ts";
import { parseRoute, sessionHref, sessionsHref } from "../../src/web/app/router.ts";

const routeOf = (href: string) => parseRoute(new URL(href, "http://localhost"));

test.each<[href: string, text: string, states: SessionState[]]>([
  ["/", "", []],
  ["/?q=changelog", "changelog", []],
  ["/?state=waiting,failed", "", ["waiting", "failed"]],
  ["/?q=a%26b+%23+%C3%A9%2C&state=working", "a&b # é,", ["working"]],
])("the address %s names the list's filter", (href, text, states) => {
  expect(sessionsHref({ text, states: new Set(states) })).toBe(href);
  expect(routeOf(href)).toEqual({ screen: "sessions", text, states: new Set(states) });
});

test("an address has its states in a fixed order, and no unknown ones", () => {
  expect(sessionsHref({ text: "", states: new Set<SessionState>(["failed", "waiting"]) })).toBe(
    "/?state=waiting,failed",
  );
  expect(routeOf("/?state=failed,lost,,toString")).toMatchObject({ states: new Set(["failed"]) });
  const former = routeOf("/?state=running,interrupted,completed");
  expect(former).toMatchObject({ states: new Set(["working", "stopped", "idle", "finished"]) });
});

test("an address omits texts that are too long or invalid", () => {
  expect(sessionsHref({ text: "a".repeat(2_000), states: new Set() })).toBe("/");
  expect(routeOf(sessionsHref({ text: "a\ud800", states: new Set() }))).toMatchObject({ text: "a\ufffd" });
});

test("the address of a session names its part and the texts that are marked in it", () => {
  const href = sessionHref("a", "part-b", undefined, ["getUser(&id)", "no such file"]);
  expect(href).toBe("/session/a?find=getUser%28%26id%29&find=no+such+file#part-b");
  expect(routeOf(href)).toEqual({
    screen: "session",
    session_id: "a",
    fragment: "part-b",
    find: ["getUser(&id)", "no such file"],
  });
  expect(routeOf(sessionHref("a", "", "b", [" ", "x".repeat(201)]))).toMatchObject({ beside: "b", find: [] });
});

test("the address of a session is valid for any id", () => {
  const id = "../../launch?token=x#y";
  expect(new URL(sessionHref(id), "http://localhost").pathname).toMatch(/^\/session\/[^/]+$/);
  expect([...new URL(sessionHref("a", "", "b&token=x#y"), "http://localhost").searchParams]).toEqual([
    ["beside", "b&token=x#y"],
  ]);
});
