import { render, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import { App } from "../../src/web/app/App.tsx";
import type { Client } from "../../src/web/app/store.ts";
import { clientOf, startTestDaemon, type TestDaemon } from "./daemon.ts";

let daemon: TestDaemon;
let client: Client;

beforeEach(async () => {
  localStorage.clear();
  history.replaceState(null, "", "/");
  daemon = await startTestDaemon();
  client = clientOf(daemon);
  render(<App client={client} />);
  await userEvent.click(await screen.findByRole("button", { name: "Settings" }));
  await screen.findByRole("group", { name: "Notifications" });
});
afterEach(async () => {
  Reflect.deleteProperty(globalThis, "Notification");
  client.close();
  await daemon.close();
});

const isChosen = (name: string): boolean => screen.getByRole<HTMLInputElement>("radio", { name }).checked;

/** A browser that answers every request for permission like this. */
function browserThatSays(permission: NotificationPermission): void {
  class Stub extends EventTarget {
    static permission: NotificationPermission = "default";
    static async requestPermission(): Promise<NotificationPermission> {
      Stub.permission = permission;
      return permission;
    }
  }
  Object.assign(globalThis, { Notification: Stub });
}

test("notifications are on once the browser allows them", async () => {
  browserThatSays("granted");
  await userEvent.click(screen.getByRole("radio", { name: "When a session waits for you" }));
  await waitFor(() => expect(client.settings.getState().notify).toBe("waiting"));
  expect(isChosen("When a session waits for you")).toBe(true);
});

test("notifications are switched off with the reason if the browser blocks them", async () => {
  browserThatSays("denied");
  await userEvent.click(screen.getByRole("radio", { name: "Also when one fails or finishes" }));
  const group = screen.getByRole("group", { name: "Notifications" });
  await screen.findByText(/blocks notifications/);
  expect(within(group).getByRole<HTMLInputElement>("radio", { name: "Off" }).checked).toBe(true);
  expect(client.settings.getState().notify).toBe("off");
});

test("notifications are switched off with the reason if the browser does not support them", async () => {
  await userEvent.click(screen.getByRole("radio", { name: "When a session waits for you" }));
  await screen.findByText(/cannot show notifications here/);
  expect(client.settings.getState().notify).toBe("off");
  expect(isChosen("When a session waits for you")).toBe(false);
});

test("a chosen density applies to the document and is stored", async () => {
  expect(document.documentElement.classList.contains("is-compact")).toBe(false);
  await userEvent.click(screen.getByRole("radio", { name: "Compact" }));
  expect(document.documentElement.classList.contains("is-compact")).toBe(true);
  expect(JSON.parse(localStorage.getItem("verbatim.settings") ?? "{}")).toMatchObject({ density: "compact" });
  await userEvent.click(screen.getByRole("radio", { name: "Comfortable" }));
  expect(document.documentElement.classList.contains("is-compact")).toBe(false);
});
