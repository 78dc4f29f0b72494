import { type ReactNode, useEffect, useState } from "react";
import type { ApiResult } from "../../../api/requests.ts";
import { t } from "../../../text/text.ts";
import { TurnChoice } from "./TurnChoice.tsx";
import { useReply } from "./use-reply.ts";

/** Time after which it is said why a reply takes long, in milliseconds. */
const SLOW_MS = 4_000;

interface Props<T> {
  /** Loads the reply. Called again whenever the function changes. */
  load(this: void, signal: AbortSignal): Promise<ApiResult<T>>;
  /** Shown while the reply loads. */
  loading?: string;
  /** The last reply stays while the next one loads. */
  keepsLast?: boolean;
  /** Shown above the reply in every state. */
  head?(this: void, value: T | undefined): ReactNode;
  children(this: void, value: T): ReactNode;
}

/** Shows the reply to a request, or that it is loading or has failed. */
export function ReplyView<T>({
  load,
  loading = t.changes.loading,
  keepsLast = false,
  head,
  children,
}: Props<T>): ReactNode {
  const { value, isLoading, problem } = useReply(load);
  const isSlow = useIsSlow(isLoading);
  const isShown = keepsLast ? problem === undefined : !isLoading;
  return (
    <div aria-busy={isLoading}>
      {head?.(value)}
      <div aria-live="polite">
        {isLoading && !(keepsLast && value !== undefined) && <p className="dialog-note">{loading}</p>}
        {isSlow && <p className="dialog-note">{t.changes.slow}</p>}
        {problem !== undefined && <p className="dialog-problem">{problem}</p>}
      </div>
      {isShown && value !== undefined && children(value)}
    </div>
  );
}

/** Whether it has been loading for a while. */
function useIsSlow(isLoading: boolean): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (!isLoading) return;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [isLoading]);
  return isSlow;
}

/** Shows the reply to a request about one turn or all turns, below a selector for the turn. */
export function TurnReplyView<T extends { turns: number }>({
  turn,
  onTurn,
  ...rest
}: Omit<Props<T>, "head"> & {
  /** From 1; `undefined`: all turns. */
  turn: number | undefined;
  onTurn(this: void, turn: number | undefined): void;
}): ReactNode {
  return (
    <ReplyView
      {...rest}
      head={(value) => (
        <p>
          <TurnChoice turn={turn} turns={value?.turns ?? turn ?? 1} onTurn={onTurn} />
        </p>
      )}
    />
  );
}
