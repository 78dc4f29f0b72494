import { Component, type ReactNode } from "react";

interface Props {
  children: ReactNode;
  /** What the children show: once it is another, they are tried again. */
  of: unknown;
  /** Shown instead of children that cannot be. */
  fallback(error: unknown): ReactNode;
}

/** What cannot be shown must not take the rest of the page with it: React would remove all of it. */
export class ErrorBoundary extends Component<Props, { failed?: { error: unknown } | undefined }> {
  override state: { failed?: { error: unknown } | undefined } = {};

  static getDerivedStateFromError(error: unknown): { failed: { error: unknown } } {
    return { failed: { error } };
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.failed && before.of !== this.props.of) this.setState({ failed: undefined });
  }

  override render(): ReactNode {
    const { failed } = this.state;
    return failed === undefined ? this.props.children : this.props.fallback(failed.error);
  }
}

/** What an error says, for a person. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
