import type { ReactNode } from "react";
import type { TranscriptPartOf } from "../../model/transcript.ts";
import { visible } from "../ui/hidden-text.tsx";
import type { TranscriptHost } from "./host.ts";

/** What a person was asked, and what they said. */
export function RequestView({
  part,
}: {
  part: TranscriptPartOf<"request">;
  host: TranscriptHost;
}): ReactNode {
  const { request, outcome } = part;
  return (
    <div className="request">
      <p>{visible(request.title, "prose")}</p>
      {outcome !== undefined && <p className="note">{outcome}</p>}
    </div>
  );
}
