import { type ReactNode, useState } from "react";
import type { ContextItem } from "../../../../model/context/describe-call.ts";
import { apiOf } from "../../../api/api.ts";
import { useClient } from "../../../app/store.ts";
import { Output } from "../../../code/Output.tsx";
import { failureText } from "../../../text/failure-text.ts";
import { shortNumber } from "../../../text/format.ts";
import { t } from "../../../text/text.ts";
import { visible } from "../../../ui/hidden-text.tsx";

interface Props {
  session_id: string;
  item: ContextItem;
  /** The model call that contains the item, counted from 1, and the item's index there. Its text is loaded from this call. */
  place: { call: number; item: number };
  /** Link to the part that the item was made from. */
  href: string | undefined;
  /** Called when the link is followed, which leaves the dialog. */
  onLeave(): void;
}

/** One item of a model call's input: role, kind and first line. Expanding it shows its text. */
export function ContextItemRow({ session_id, item, place, href, onLeave }: Props): ReactNode {
  const api = apiOf(useClient());
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const isLoaded = text !== undefined || problem !== undefined;
  const load = async (): Promise<void> => {
    if (isLoaded) return;
    const reply = await api.contextItem(session_id, place.call, place.item);
    if (reply.ok) setText(reply.value.text);
    else setProblem(failureText(reply.failure));
  };
  const name = [item.role, item.name, ...item.kinds.filter((kind) => kind !== "text")]
    .filter((word) => word !== undefined)
    .join(" · ");
  return (
    <details
      className={item.is_found === true ? "context-item context-found" : "context-item"}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open);
        if (currentTarget.open) void load();
      }}
    >
      <summary>
        {name !== "" && <span className="context-kind">{visible(name, "name")}</span>}
        <span className="context-preview">{visible(item.preview, "prose")}</span>
        {item.ends_cache === true && <span className="context-mark">{t.context.cached}</span>}
        <span className="context-size" title={t.context.characters(item.size)}>
          {shortNumber(item.size)}
        </span>
      </summary>
      {isOpen && (
        <>
          {href !== undefined && (
            <p>
              <a href={href} onClick={onLeave}>
                {t.context.toPart}
              </a>
            </p>
          )}
          {problem !== undefined && <p className="dialog-problem">{problem}</p>}
          {text !== undefined && <Output text={text} label={name} />}
          {!isLoaded && <p className="dialog-note">{t.context.loading}</p>}
        </>
      )}
    </details>
  );
}
