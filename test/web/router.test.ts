import { expect, test } from "vitest";
import { parseRoute, sessionHref, sessionsHref } from "../../src/web/router.ts";
import type { StateFilter } from "../../src/web/sessions/session-list.ts";

const routeOf = (href: string) => parseRoute(new URL(href, "http://localhost"));

test.each<[href: string, text: string, states: StateFilter[]]>([
  ["/", "", []],
  ["/?q=changelog", "changelog", []],
  ["/?state=waiting,failed", "", ["waiting", "failed"]],
  ["/?q=a%26b+%23+%C3%A9%2C&state=running", "a&b # é,", ["running"]],
])("the address %s names the list's filter", (href, text, states) => {
  expect(sessionsHref({ text, states: new Set(states) })).toBe(href);
  expect(routeOf(href)).toEqual({ screen: "sessions", text, states: new Set(states) });
});

test("an address names its states in one order, and none that there is not", () => {
  expect(sessionsHref({ text: "", states: new Set<StateFilter>(["failed", "waiting"]) })).toBe(
    "/?state=waiting,failed",
  );
  expect(routeOf("/?state=failed,lost,,toString")).toMatchObject({ states: new Set(["failed"]) });
});

test("what is too long for an address, or no text, is not in it", () => {
  expect(sessionsHref({ text: "a".repeat(2_000), states: new Set() })).toBe("/");
  expect(routeOf(sessionsHref({ text: "a\ud800", states: new Set() }))).toMatchObject({ text: "a\ufffd" });
});

test("the address of a session stays one, whatever is taken for its id", () => {
  const id = "../../launch?token=x#y";
  expect(new URL(sessionHref(id), "http://localhost").pathname).toMatch(/^\/session\/[^/]+$/);
  expect([...new URL(sessionHref("a", "", "b&token=x#y"), "http://localhost").searchParams]).toEqual([
    ["beside", "b&token=x#y"],
  ]);
});
