import type { ReactNode } from "react";
import type { TurnDigest as Digest } from "../../../model/parts/turn-outline.ts";
import type { OutlineReply } from "../../../protocol.ts";
import { exactNumber } from "../../text/format.ts";
import { t } from "../../text/text.ts";
import { duration } from "../../ui/duration.ts";
import { visible } from "../../ui/hidden-text.tsx";
import { byLabel } from "./outline-text.ts";

/** Maximum number of tools that are named. */
const MAX_TOOLS = 4;

/** What a turn did, in one line: `53 steps · 38 Shell · 9 Edit +341 −52 in 7 files · 1 error · model 5 min`. */
export function TurnDigest({
  digest,
  time,
  onOpen,
}: {
  digest: Digest;
  time: OutlineReply["time"];
  /** Opens the figures of the turn. */
  onOpen(): void;
}): ReactNode {
  const { steps, tools, files, additions, deletions, errors } = digest;
  const labels = byLabel(tools);
  const others = labels.slice(MAX_TOOLS).reduce((sum, { count }) => sum + count, 0);
  const words = [
    t.count.steps(steps),
    ...labels.slice(0, MAX_TOOLS).map(({ label, count }) => `${exactNumber(count)} ${label}`),
    ...(others > 0 ? [t.session.digest.others(others)] : []),
    ...(files > 0
      ? [`+${exactNumber(additions)} −${exactNumber(deletions)} ${t.session.digest.inFiles(files)}`]
      : []),
    ...(errors > 0 ? [t.count.errors(errors)] : []),
    ...(["model", "tools", "person"] as const).flatMap((kind) =>
      (time?.[kind] ?? 0) < 500 ? [] : [t.session.digest.times[kind](duration(time?.[kind] ?? 0))],
    ),
  ];
  return (
    <button
      type="button"
      className="outline-digest"
      aria-haspopup="dialog"
      title={t.session.digest.open}
      onClick={onOpen}
    >
      {visible(words.join(" · "), "name")}
    </button>
  );
}
