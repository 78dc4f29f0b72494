import { Component, type ReactNode } from "react";

interface Props {
  children: ReactNode;
  /** Identifies the children's content. When it changes, they are rendered again. */
  of: unknown;
  /** Shown instead of children that throw. */
  fallback(error: unknown): ReactNode;
}

/** Limits a rendering error to its children. Without it, React would remove the whole page. */
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

/** The message of an error for the user. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
