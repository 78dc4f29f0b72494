import type { ReactNode } from "react";
import type { TranscriptPartOf } from "../../model/transcript/transcript.ts";
import { Markdown } from "../markdown/Markdown.tsx";
import { t } from "../text/text.ts";
import { shortNumber } from "../ui/size.ts";
import { Disclosure } from "./Disclosure.tsx";
import { fieldText } from "./field-text.ts";
import type { TranscriptHost } from "./host.ts";
import { useOpenState } from "./open-state.ts";
import { WholeText } from "./WholeText.tsx";

/** A message without parts, from an old server. Its thinking is shown above its content, because their real order is unknown. */
export function LegacyMessage({
  part,
  host,
  isTarget,
}: {
  part: TranscriptPartOf<"legacy">;
  host: TranscriptHost;
  isTarget: boolean;
}): ReactNode {
  const [open, setOpen] = useOpenState(host, part.id, isTarget || host.thinking === "open");
  return (
    <>
      {part.thinking !== undefined && part.thinking !== "" && (
        <Disclosure
          open={open}
          onOpen={setOpen}
          className="thinking"
          summary={
            <span className="line">
              <span className="line-subject">{t.part.thinkingOfMessage}</span>{" "}
              <span className="line-figures">
                {t.count.shortCharacters(shortNumber(part.truncated?.thinking ?? part.thinking.length))}
              </span>
            </span>
          }
        >
          <WholeText {...fieldText(part, "thinking", host)}>
            {(text) => <Markdown text={text} idPrefix={`${part.id}-thinking-`} />}
          </WholeText>
        </Disclosure>
      )}
      <WholeText {...fieldText(part, "content", host)}>
        {(text) => <Markdown text={text} idPrefix={`${part.id}-`} />}
      </WholeText>
    </>
  );
}
