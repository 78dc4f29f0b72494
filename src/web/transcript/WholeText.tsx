import type { ReactNode } from "react";
import { t } from "../text/text.ts";
import { visible } from "../ui/hidden-text.tsx";
import { byteSize } from "../ui/size.ts";
import { type TruncatedText, useWhole } from "../ui/use-whole.ts";

/** The text of a part, with a button that loads the whole text if it is truncated. */
export function WholeText({
  children,
  ...given
}: TruncatedText & { children: (text: string) => ReactNode }): ReactNode {
  const { text, fullLength, load, isLoading, failure } = useWhole(given);
  return (
    <>
      {children(text)}
      {fullLength !== undefined &&
        (load ? (
          <button type="button" className="show-all" disabled={isLoading} onClick={load}>
            {t.output.rest(byteSize(fullLength))}
          </button>
        ) : (
          <p className="note">{t.output.cutHere(byteSize(fullLength))}</p>
        ))}
      {failure !== undefined && (
        <p className="note" role="alert">
          {t.common.notLoadedFor} {visible(failure, "prose")}
        </p>
      )}
    </>
  );
}
