import type { ReactNode } from "react";
import { t } from "../text/text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { byteSize } from "../ui/size.ts";
import { type CutText, useWhole } from "../ui/use-whole.ts";

/** The text of a part, with a button that loads the whole text if it is truncated. */
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
            {t.output.rest(byteSize(cut))}
          </button>
        ) : (
          <p className="note">{t.output.cutHere(byteSize(cut))}</p>
        ))}
      {failure !== undefined && (
        <p className="note" role="alert">
          {t.common.notLoadedFor} {visible(failure, "prose")}
        </p>
      )}
    </>
  );
}
