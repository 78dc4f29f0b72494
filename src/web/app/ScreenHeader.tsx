import type { ReactNode } from "react";
import { t } from "../text/text.ts";
import { ConnectionState } from "./ConnectionState.tsx";
import { HelpAndSettings } from "./HelpAndSettings.tsx";
import type { KeyBinding } from "./keys.ts";
import "./screen-header.css";

/**
 * The header of a screen that is reached from the session list: its title, a link back, the connection state, help and settings.
 */
export function ScreenHeader({
  title,
  bindings,
}: {
  title: string;
  bindings: readonly KeyBinding[];
}): ReactNode {
  return (
    <header className="screen-header">
      <nav className="screen-path" aria-label={t.common.path}>
        <a href="/">{t.common.sessions}</a>
        <span aria-hidden="true">/</span>
      </nav>
      <h1 className="screen-title">{title}</h1>
      <ConnectionState />
      <HelpAndSettings bindings={bindings} />
    </header>
  );
}
