import { act, fireEvent, screen } from "@testing-library/react";
import { expect, onTestFinished, vi } from "vitest";

/** Clipboard content: files, and texts by type. */
export const pasted = (files: readonly File[], words: Readonly<Record<string, string>> = {}) => ({
  files,
  types: [...Object.keys(words), "Files"],
  getData: (type: string) => words[type] ?? "",
});

export const picture = () => new File([Uint8Array.of(137, 80, 78, 71)], "shot.png", { type: "image/png" });
/** The image as it is sent. */
export const PICTURE = "data:image/png;base64,iVBORw==";

/** From now on, each image of this test is read when the test says so, in the order of requests. */
export function holdPictures(): { read(): Promise<void> } {
  const { readAsDataURL } = FileReader.prototype;
  const held: (() => Promise<unknown>)[] = [];
  const spy = vi.spyOn(FileReader.prototype, "readAsDataURL").mockImplementation(function (
    this: FileReader,
    file,
  ) {
    held.push(() => {
      const end = new Promise((resolve) => this.addEventListener("loadend", resolve));
      readAsDataURL.call(this, file);
      return end;
    });
  });
  onTestFinished(() => spy.mockRestore());
  return {
    async read() {
      const next = held.shift();
      if (next === undefined) throw new Error("No picture is being read.");
      await act(async () => void (await next()));
    },
  };
}

/** Pastes three images and a file that is not one, presses Enter while the images are read, and expects the refusal to stay. */
export async function refuseAmongPictures(field: HTMLElement): Promise<void> {
  const pictures = holdPictures();
  fireEvent.paste(field, { clipboardData: pasted([picture(), picture(), picture()]) });
  const scan = new File(["II*"], "scan.tiff", { type: "image/tiff" });
  fireEvent.paste(field, { clipboardData: pasted([scan]) });
  expect((await screen.findByRole("alert")).textContent).toContain("scan.tiff is not an image");
  fireEvent.keyDown(field, { key: "Enter" });
  for (let read = 0; read < 3; read++) await pictures.read();
  expect(await screen.findAllByRole("img", { name: /^Image / })).toHaveLength(3);
  expect(screen.getByRole("alert").textContent).toContain("scan.tiff is not an image");
}
