import type { ReactNode } from "react";
import type { ApiResult } from "../../../api/requests.ts";
import { t } from "../../../text/text.ts";
import { TurnChoice } from "./TurnChoice.tsx";
import { useReply } from "./use-reply.ts";

interface Props<T> {
  /** Asked again whenever it is another function. */
  load(this: void, signal: AbortSignal): Promise<ApiResult<T>>;
  /** What is said while it loads. */
  loading?: string;
  /** The last reply stays while the next one loads. */
  keepsLast?: boolean;
  /** Above the reply, loaded or not. */
  head?(this: void, value: T | undefined): ReactNode;
  children(this: void, value: T): ReactNode;
}

/** What a request gives; while it loads, and where it fails, a line that says so. */
export function ReplyView<T>({
  load,
  loading = t.changes.loading,
  keepsLast = false,
  head,
  children,
}: Props<T>): ReactNode {
  const { value, isLoading, problem } = useReply(load);
  const isShown = keepsLast ? problem === undefined : !isLoading;
  return (
    <div aria-busy={isLoading}>
      {head?.(value)}
      <div aria-live="polite">
        {isLoading && !(keepsLast && value !== undefined) && <p className="dialog-note">{loading}</p>}
        {problem !== undefined && <p className="dialog-problem">{problem}</p>}
      </div>
      {isShown && value !== undefined && children(value)}
    </div>
  );
}

/** What a request about a turn, or about all of them, gives, below the choice of the turn. */
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
