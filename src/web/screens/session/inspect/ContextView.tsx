import { type ReactNode, type SubmitEvent, useCallback, useState } from "react";
import type { ContextItem, LeftItem } from "../../../../model/context/describe-call.ts";
import { tokensIn } from "../../../../model/tokens.ts";
import type { ContextReply } from "../../../../protocol.ts";
import { apiOf } from "../../../api/api.ts";
import { sessionHref } from "../../../app/router.ts";
import { useClient } from "../../../app/store.ts";
import { exactNumber, shortNumber } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { JsonBlock } from "../../../transcript/JsonBlock.tsx";
import { visible } from "../../../ui/hidden-text.tsx";
import { ContextItemRow } from "./ContextItemRow.tsx";
import { ReplyView } from "./ReplyView.tsx";

interface Props {
  session_id: string;
  which: { call: number } | { part: string };
  onCall(call: number): void;
  onClose(): void;
}

/** Shows the input of a model call: its items, and which of them are new, removed or cached. */
export function ContextView({ session_id, which, onCall, onClose }: Props): ReactNode {
  const api = apiOf(useClient());
  const [find, setFind] = useState("");
  const [key, name] = "call" in which ? [which.call, "call"] : [which.part, "part"];
  const load = useCallback(
    (signal: AbortSignal) =>
      api.context(session_id, name === "call" ? { call: Number(key) } : { part: String(key) }, find, signal),
    [api, session_id, name, key, find],
  );
  return (
    <ReplyView load={load} loading={t.context.loading} keepsLast>
      {(context) => (
        <>
          <CallHead context={context} onCall={onCall} />
          <FindForm find={find} context={context} onFind={setFind} />
          <Items session_id={session_id} context={context} find={find} onCall={onCall} onClose={onClose} />
        </>
      )}
    </ReplyView>
  );
}

/** The number of the call, the origin of the request, and the provider's token counts. */
function CallHead({ context, onCall }: { context: ContextReply; onCall(call: number): void }): ReactNode {
  const { call, calls, step, turn, recorded, missing, is_cut, digest_matches, usage } = context;
  return (
    <>
      <p className="context-head">
        <button type="button" className="button" disabled={call <= 1} onClick={() => onCall(call - 1)}>
          {t.context.previous}
        </button>{" "}
        <button type="button" className="button" disabled={call >= calls} onClick={() => onCall(call + 1)}>
          {t.context.next}
        </button>{" "}
        <strong>{t.context.call(call, calls)}</strong>
        {turn !== null && <> · {t.changes.turn(turn + 1)}</>}
        {step === null && <> · {t.context.attempt}</>}
      </p>
      <p>
        {recorded ? t.context.recorded : t.context.rebuilt}
        {digest_matches === true && <> {t.context.verified}</>}
        {recorded && missing.length > 0 && <> {t.context.missing(missing.join(", "))}</>}
        {is_cut === true && <> {t.context.cut}</>}
      </p>
      {usage !== undefined && (
        <p>
          {t.context.tokens(shortNumber(tokensIn(usage)), shortNumber(usage.output))}
          {usage.cache_read !== undefined && <> · {t.context.cacheRead(shortNumber(usage.cache_read))}</>}
          {usage.cache_write !== undefined && <> · {t.context.cacheWrite(shortNumber(usage.cache_write))}</>}
        </p>
      )}
    </>
  );
}

function FindForm({
  find,
  context: { items, found_earlier },
  onFind,
}: {
  find: string;
  context: ContextReply;
  onFind(find: string): void;
}): ReactNode {
  const found = items.filter(({ is_found }) => is_found === true).length;
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onFind(String(new FormData(event.currentTarget).get("find") ?? ""));
  };
  return (
    <form className="context-find" onSubmit={submit}>
      <input
        type="search"
        name="find"
        className="filter"
        aria-label={t.context.find}
        placeholder={t.context.find}
        defaultValue={find}
      />{" "}
      <button type="submit" className="button">
        {t.context.findButton}
      </button>{" "}
      <span role="status">
        {find !== "" && (found > 0 ? t.context.found(found) : t.context.notFound(found_earlier.length))}
      </span>
    </form>
  );
}

/** Adjacent items that are all new, or all known from the previous call. */
interface Group {
  is_new: boolean;
  items: { item: ContextItem; at: number }[];
}

function groupsOf(items: readonly ContextItem[]): Group[] {
  const groups: Group[] = [];
  for (const [at, item] of items.entries()) {
    if (item.section !== "messages") continue;
    const is_new = item.is_new === true;
    const last = groups.at(-1);
    if (last?.is_new === is_new) last.items.push({ item, at });
    else groups.push({ is_new, items: [{ item, at }] });
  }
  return groups;
}

function Items({
  session_id,
  context,
  find,
  onCall,
  onClose,
}: {
  session_id: string;
  context: ContextReply;
  find: string;
  onCall(call: number): void;
  onClose(): void;
}): ReactNode {
  const { items, left, found_earlier, parameters, call } = context;
  const rowOf = (item: ContextItem, place: { call: number; item: number }): ReactNode => (
    <ContextItemRow
      key={`${place.call} ${place.item}`}
      session_id={session_id}
      item={item}
      place={place}
      href={item.part_id === undefined ? undefined : sessionHref(session_id, `part-${item.part_id}`)}
      onLeave={onClose}
    />
  );
  const section = (name: "system" | "tools"): ReactNode => {
    const own = items.flatMap((item, at) => (item.section === name ? [{ item, at }] : []));
    if (own.length === 0) return null;
    return (
      <Fold
        key={`${call} ${name}`}
        summary={t.context.sections[name](own.length, sizeOf(own))}
        isOpen={own.some(({ item }) => item.is_found === true)}
      >
        {own.map(({ item, at }) => rowOf(item, { call, item: at }))}
      </Fold>
    );
  };
  return (
    <>
      {found_earlier.length > 0 && (
        <Fold key={`found ${find}`} summary={t.context.foundEarlier(found_earlier.length)} isOpen>
          {found_earlier.map((item) => (
            <LeftRow key={`${item.last_call} ${item.index}`} item={item} onCall={onCall}>
              {rowOf(item, { call: item.last_call, item: item.index })}
            </LeftRow>
          ))}
        </Fold>
      )}
      {Object.keys(parameters).length > 0 && (
        <Fold key={`${call} parameters`} summary={t.context.parameters} isOpen={false}>
          <JsonBlock text={JSON.stringify(parameters)} />
        </Fold>
      )}
      {section("system")}
      {section("tools")}
      {left.length > 0 && (
        <Fold
          key={`${call} left`}
          summary={t.context.left(left.length, sizeOf(left.map((item) => ({ item }))))}
        >
          {left.map((item) => (
            <div key={item.index} className="context-left">
              {rowOf(item, { call: item.last_call, item: item.index })}
            </div>
          ))}
        </Fold>
      )}
      {groupsOf(items).map(({ is_new, items: own }) =>
        is_new ? (
          <section key={`${call} ${own[0]?.at}`} className="context-new" aria-label={t.context.new}>
            {own.map(({ item, at }) => rowOf(item, { call, item: at }))}
          </section>
        ) : (
          <Fold
            key={`${call} ${own[0]?.at} ${find}`}
            summary={t.context.unchanged(own.length, sizeOf(own))}
            isOpen={own.some(({ item }) => item.is_found === true)}
          >
            {own.map(({ item, at }) => rowOf(item, { call, item: at }))}
          </Fold>
        ),
      )}
    </>
  );
}

const sizeOf = (items: readonly { item: ContextItem }[]): string =>
  shortNumber(items.reduce((sum, { item }) => sum + item.size, 0));

/** A `details` element that renders its content only when it is open, because it may have thousands of rows. */
function Fold({
  summary,
  isOpen = false,
  children,
}: {
  summary: string;
  isOpen?: boolean;
  children: ReactNode;
}): ReactNode {
  const [open, setOpen] = useState(isOpen);
  return (
    <details
      className="context-fold"
      open={open}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{summary}</summary>
      {open && children}
    </details>
  );
}

function LeftRow({
  item,
  onCall,
  children,
}: {
  item: LeftItem;
  onCall(call: number): void;
  children: ReactNode;
}): ReactNode {
  return (
    <div className="context-left">
      {children}
      <button type="button" className="action" onClick={() => onCall(item.last_call)}>
        {visible(t.context.lastCall(exactNumber(item.last_call)), "name")}
      </button>
    </div>
  );
}
