import { type ReactNode, useState } from "react";
import type { TranscriptPartOf } from "../../model/transcript.ts";
import { visible } from "../ui/hidden-text.tsx";
import { byteSize } from "../ui/size.tsx";
import type { TranscriptHost } from "./host.ts";

type TextPart =
  | TranscriptPartOf<"text">
  | TranscriptPartOf<"thinking">
  | TranscriptPartOf<"legacy">
  | TranscriptPartOf<"marker">;

/** A part's text, with a way to the whole where it was cut on its way here. */
export function WholeText({
  part,
  field,
  host,
  children,
}: {
  part: TextPart;
  field: "text" | "thinking" | "content";
  host: TranscriptHost;
  children: (text: string) => ReactNode;
}): ReactNode {
  const [whole, setWhole] = useState<{ text: string; length: number }>();
  const [failure, setFailure] = useState<string>();
  const read = (given: object): string => {
    const value: unknown = Object.hasOwn(given, field)
      ? Object.entries(given).find(([key]) => key === field)?.[1]
      : undefined;
    return typeof value === "string" ? value : "";
  };
  const text = whole?.text ?? read(part);
  const length = part.truncated?.[field];
  // What was loaded is cut again when it has grown since.
  const cut = length !== undefined && length > (whole?.length ?? text.length);
  const { loadWhole } = host;
  return (
    <>
      {children(text)}
      {cut &&
        (loadWhole ? (
          <button
            type="button"
            className="show-all"
            onClick={() => {
              loadWhole(part.id).then(
                (loaded) => setWhole({ text: read(loaded), length }),
                (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
              );
            }}
          >
            Load the rest ({byteSize(length)} in all)
          </button>
        ) : (
          <p className="note">Cut here, {byteSize(length)} in all.</p>
        ))}
      {failure !== undefined && (
        <p className="note" role="alert">
          Not loaded: {visible(failure, "prose")}
        </p>
      )}
    </>
  );
}
