import { Component, type ReactNode } from "react";

interface Props {
  children: ReactNode;
  /** Identifies the content of the children. After an error, they are rendered again when this changes. */
  of: unknown;
  /** Shown instead of children that throw. */
  fallback(error: unknown): ReactNode;
}

/** Catches rendering errors of its children. Without it, React would unmount the whole page. */
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
