import { type ReactNode, useRef } from "react";

/**
 * A `<details>` that renders its content only while it is open, so that a closed card costs one line. It is controlled: `onOpen`
 * is also called when the browser's find-in-page opens it.
 */
export function Disclosure({
  open,
  onOpen,
  summary,
  className,
  children,
}: {
  open: boolean;
  onOpen: (open: boolean) => void;
  summary: ReactNode;
  className: string;
  children: ReactNode;
}): ReactNode {
  const wanted = useRef(open);
  wanted.current = open;
  return (
    <details
      className={className}
      open={open}
      onToggle={(event) => {
        if (event.target === event.currentTarget && event.currentTarget.open !== wanted.current)
          onOpen(event.currentTarget.open);
      }}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a control, and turns Enter and Space into a click. */}
      <summary
        onClick={(event) => {
          event.preventDefault();
          onOpen(!open);
        }}
      >
        {summary}
      </summary>
      {open && children}
    </details>
  );
}
