import { type ReactNode, useMemo } from "react";
import { cutShort } from "../../hidden-text/cut-short.ts";
import { growthOf } from "../../model/transcript/growth.ts";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { Markdown } from "../markdown/Markdown.tsx";
import { t } from "../text/text.ts";
import { duration } from "../ui/duration.ts";
import { visible } from "../ui/hidden-text.tsx";
import { shortNumber } from "../ui/size.ts";
import { useNow } from "../ui/use-now.ts";
import { Disclosure } from "./Disclosure.tsx";
import { fieldText } from "./field-text.ts";
import type { TranscriptHost } from "./host.ts";
import { useOpenState } from "./open-state.ts";
import { WholeText } from "./WholeText.tsx";

/** Number of characters that are searched for the first line. */
const MAX_BEGINNING = 2_000;

/** Minimum length of a thought, in UTF-16 code units, for its length to be shown. */
const MIN_SHOWN_LENGTH = 1_000;

/** A thought: one muted line with its beginning, length and time; the full text while expanded. */
export function ThinkingView({
  part,
  host,
  isTarget,
}: {
  part: TranscriptPartOf<"thinking">;
  host: TranscriptHost;
  isTarget: boolean;
}): ReactNode {
  const byDefault =
    isTarget || host.thinking === "open" || (host.thinking === "open-while-live" && part.open === true);
  const [open, setOpen] = useOpenState(host, part.id, byDefault);
  const now = useNow(part.open === true ? 1_000 : undefined);
  // The key of a growing text is its identity and the length of its beginning: once that is complete, nothing is computed again.
  const text = growthOf(part)?.text_id ?? part.thinking;
  const beginning = useMemo(
    () => (open ? "" : beginningOf(part.thinking)),
    [open, text, Math.min(part.thinking.length, MAX_BEGINNING)],
  );
  if (part.thinking === "" && part.hidden !== undefined) {
    return (
      <p className="thinking thinking-hidden">
        {t.part.thinking} ({t.part.hidden[part.hidden]})
      </p>
    );
  }
  const length = part.truncated?.thinking ?? part.thinking.length;
  const end = part.ended_at ?? (part.open ? now : undefined);
  const time =
    part.at === undefined || end === undefined || end - part.at < 50 ? "" : duration(end - part.at);
  return (
    <Disclosure
      open={open}
      onOpen={setOpen}
      className="thinking"
      summary={
        <span className="line">
          <span className="line-subject">{visible(beginning, "prose") || t.part.thinking}</span>{" "}
          <span className="line-figures">
            {length < MIN_SHOWN_LENGTH ? "" : t.count.shortCharacters(shortNumber(length))}
          </span>{" "}
          <span className="line-time">{time}</span>
        </span>
      }
    >
      <WholeText {...fieldText(part, "thinking", host)}>
        {(text) => (
          <Markdown text={text} open={part.open === true} growth={growthOf(part)} idPrefix={`${part.id}-`} />
        )}
      </WholeText>
    </Disclosure>
  );
}

/** The first line of a thought, without Markdown markup. */
function beginningOf(thought: string): string {
  const lines = cutShort(thought, MAX_BEGINNING).split("\n");
  const first = lines.find((line) => /\S/.test(line)) ?? "";
  return first.replace(/[*_`#]+/g, "").trim();
}
