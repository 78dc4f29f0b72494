import { render, screen, within } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it } from "vitest";
import { ErrorBoundary, reasonOf } from "../../../src/web/ui/ErrorBoundary.tsx";
import { loadAllOnDemand, onDemand } from "../../../src/web/ui/on-demand.tsx";

const Hello = ({ name }: { name: string }): ReactNode => <p>Hello {name}</p>;
const lost = () => Promise.reject(new Error("Failed to fetch dynamically imported module"));

describe("a component on demand", () => {
  it("shows its placeholder until its script is loaded, then itself", async () => {
    const Late = onDemand(async () => Hello, { fallback: <p>Wait</p> });
    const { rerender } = render(<Late name="Ada" />);
    expect(screen.getByText("Wait")).toBeTruthy();
    await screen.findByText("Hello Ada");
    rerender(<Late name="Bea" />);
    expect(screen.getByText("Hello Bea")).toBeTruthy();
  });

  it("is shown at once if its script was preloaded with the others", async () => {
    let fetched = 0;
    const Outer = onDemand(async () => {
      fetched++;
      return Hello;
    });
    await loadAllOnDemand();
    await loadAllOnDemand();
    render(<Outer name="Ada" />);
    expect(screen.getByText("Hello Ada")).toBeTruthy();
    expect(fetched).toBe(1);
  });

  it("reports that its script cannot be loaded, offers a reload, and retries when it is mounted again", async () => {
    let isLost = true;
    const Late = onDemand(async () => (isLost ? await lost() : Hello));
    const { unmount } = render(<Late name="Ada" />);
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("This part of the page could not be loaded.");
    within(alert).getByRole("button", { name: "Reload the page" });
    unmount();
    isLost = false;
    render(<Late name="Ada" />);
    await screen.findByText("Hello Ada");
  });

  it("leaves a failure to the error boundary that reports it for the whole screen", async () => {
    const Late = onDemand<{ name: string }>(lost, { throws: true });
    await Late.load();
    const said = console.error;
    console.error = () => {};
    render(
      <ErrorBoundary of="screen" fallback={(error) => <p role="alert">{reasonOf(error)}</p>}>
        <Late name="Ada" />
      </ErrorBoundary>,
    );
    console.error = said;
    expect((await screen.findByRole("alert")).textContent).toContain("Failed to fetch");
  });
});
