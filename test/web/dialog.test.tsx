import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { StrictMode, useState } from "react";
import { expect, it } from "vitest";
import { Dialog } from "../../src/web/ui/Dialog.tsx";

function Page() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setIsOpen(true)}>
        Ask
      </button>
      {isOpen && (
        <Dialog title="A question" onClose={() => setIsOpen(false)}>
          What is in it.
        </Dialog>
      )}
    </>
  );
}

it("a dialog stays open until the user closes it, even in strict mode, which closes and reopens each dialog once", async () => {
  render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
  await userEvent.click(screen.getByRole("button", { name: "Ask" }));
  const dialog = await screen.findByRole("dialog", { name: "A question" });
  // The browser emits the close event later.
  await new Promise((resolve) => setTimeout(resolve));
  expect(dialog.isConnected).toBe(true);
  expect(screen.getByRole("dialog", { name: "A question" })).toBe(dialog);
  await userEvent.click(screen.getByRole("button", { name: "Close" }));
  await expect.poll(() => screen.queryByRole("dialog")).toBeNull();
});

it("a dialog has the initial focus itself, so that Enter presses no button", async () => {
  const pressed: string[] = [];
  render(
    <Dialog title="A question" onClose={() => pressed.push("Close")}>
      <button type="button" onClick={() => pressed.push("Compact")}>
        Compact
      </button>
    </Dialog>,
  );
  const dialog = await screen.findByRole("dialog", { name: "A question" });
  expect(document.activeElement).toBe(dialog);
  await userEvent.keyboard("{Enter}");
  expect(pressed).toEqual([]);
  await userEvent.keyboard("{Tab}{Enter}");
  expect(pressed).toEqual(["Compact"]);
});
