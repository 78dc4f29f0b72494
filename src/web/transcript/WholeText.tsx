import type { ReactNode } from "react";
import { visible } from "../ui/hidden-text.tsx";
import { byteSize } from "../ui/size.ts";
import { type CutText, useWhole } from "../ui/use-whole.ts";

/** A part's text, with a way to the whole where it was cut on its way here. */
export function WholeText({
  children,
  ...given
}: CutText & { children: (text: string) => ReactNode }): ReactNode {
  const { text, cut, load, isLoading, failure } = useWhole(given);
  return (
    <>
      {children(text)}
      {cut !== undefined &&
        (load ? (
          <button type="button" className="show-all" disabled={isLoading} onClick={load}>
            Load the rest ({byteSize(cut)} in all)
          </button>
        ) : (
          <p className="note">Cut here, {byteSize(cut)} in all.</p>
        ))}
      {failure !== undefined && (
        <p className="note" role="alert">
          Not loaded: {visible(failure, "prose")}
        </p>
      )}
    </>
  );
}
