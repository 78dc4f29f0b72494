import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { MediaPart } from "../../../src/model/messages/part.ts";
import type { Attachment } from "../../../src/web/transcript/host.ts";
import { MediaView } from "../../../src/web/transcript/MediaView.tsx";
import { hostOf } from "../../build.ts";

const EMBEDDED: MediaPart = { type: "image_url", url: "attachment:part:0" };
const MB = 1024 * 1024;

function show(attachment: Omit<Attachment, "address">, media = EMBEDDED): void {
  const host = hostOf({ loadAttachment: async () => ({ address: "blob:image", ...attachment }) });
  render(<MediaView media={media} host={host} />);
}
const image = () => screen.queryByRole("img");

describe("an image in the record", () => {
  it("is shown if it is not too large for the page", async () => {
    show({ byte_size: 5 * MB, pixels: 25_000_000 });
    expect((await screen.findByRole("img")).getAttribute("src")).toBe("blob:image");
  });

  it.each([
    ["bytes", { byte_size: 5 * MB + 1, pixels: 100 }, "its size is 5.2 MB"],
    ["pixels", { byte_size: 100, pixels: 25_000_001 }, "it has 25 megapixels"],
    ["pixels, by far", { byte_size: 100, pixels: 2 ** 48 }, "it has 281,474,977 megapixels"],
    ["pixels, with an unknown number", { byte_size: 100 }, "its number of pixels is unknown"],
  ])("of too many %s is shown on request", async (_of, attachment, words) => {
    show(attachment);
    expect(await screen.findByText(new RegExp(words))).toBeTruthy();
    expect(image()).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Show image" }));
    expect(image()?.getAttribute("src")).toBe("blob:image");
  });

  it("has the same limits if it is a file", async () => {
    show(
      { byte_size: 6 * MB, pixels: 100 },
      { type: "file", mime: "image/png", filename: "plan.png", url: "attachment:part:0" },
    );
    await userEvent.click(await screen.findByRole("button", { name: "Show image" }));
    expect(screen.getByRole("img", { name: "plan.png" })).toBeTruthy();
  });
});
