import type { ReactNode, Ref } from "react";

/** A named box for content that may be wider than the page. It scrolls horizontally, also by keyboard. */
export function ScrollBox({
  className,
  label,
  ref,
  children,
}: {
  className: string;
  label: string;
  ref?: Ref<HTMLDivElement> | undefined;
  children: ReactNode;
}): ReactNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would add a landmark.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard.
    <div className={className} ref={ref} role="group" tabIndex={0} aria-label={label}>
      {children}
    </div>
  );
}
