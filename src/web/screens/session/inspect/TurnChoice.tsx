import type { ReactNode } from "react";
import { t } from "../../../text/text.ts";

/** Selects a turn, counted from 1, or all turns (`undefined`). */
export function TurnChoice({
  turn,
  turns,
  onTurn,
}: {
  turn: number | undefined;
  turns: number;
  onTurn(turn: number | undefined): void;
}): ReactNode {
  return (
    <label>
      {t.changes.of}{" "}
      <select
        value={turn ?? ""}
        onChange={({ target }) => onTurn(target.value === "" ? undefined : Number(target.value))}
      >
        <option value="">{t.changes.allTurns}</option>
        {Array.from({ length: turns }, (_, at) => (
          <option key={at} value={at + 1}>
            {t.changes.turn(at + 1)}
          </option>
        ))}
      </select>
    </label>
  );
}
