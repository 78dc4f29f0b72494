import type { ReactNode } from "react";
import { t } from "../text/text.ts";
import { duration } from "../ui/duration.ts";
import { useNow } from "../ui/use-now.ts";

/** The remaining time of a request, updated every second. */
export function Expiry({ expires_at }: { expires_at: number | undefined }): ReactNode {
  const now = useNow(expires_at === undefined ? undefined : 1_000);
  if (expires_at === undefined) return null;
  const left = expires_at - now;
  return (
    <span className="request-expiry">
      {left > 0 ? t.request.expires(duration(Math.ceil(left / 1_000) * 1_000)) : t.request.expired}
    </span>
  );
}
