import { type ReactNode, useState } from "react";
import { visible } from "../ui/hidden-text.tsx";
import { byteSize } from "../ui/size.tsx";
import type { FieldText } from "./field-text.ts";

/** A part's text, with a way to the whole where it was cut on its way here. */
export function WholeText({
  text,
  truncated,
  loadWhole,
  children,
}: FieldText & { children: (text: string) => ReactNode }): ReactNode {
  const [whole, setWhole] = useState<{ text: string; length: number }>();
  const [failure, setFailure] = useState<string>();
  // What was loaded is cut again when it has grown since.
  const cut = truncated !== undefined && truncated > (whole?.length ?? text.length);
  return (
    <>
      {children(whole?.text ?? text)}
      {cut &&
        (loadWhole ? (
          <button
            type="button"
            className="show-all"
            onClick={() => {
              loadWhole().then(
                (loaded) => setWhole({ text: loaded, length: truncated }),
                (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
              );
            }}
          >
            Load the rest ({byteSize(truncated)} in all)
          </button>
        ) : (
          <p className="note">Cut here, {byteSize(truncated)} in all.</p>
        ))}
      {failure !== undefined && (
        <p className="note" role="alert">
          Not loaded: {visible(failure, "prose")}
        </p>
      )}
    </>
  );
}
