/** Renders a growing text. */
export interface Consumer {
  push(delta: string): void;
  end(): void;
  /** Whether work in other threads, such as highlighting, is done. If it is absent, there is no such work. */
  isSettled?(): boolean;
}
export type Mount = (root: HTMLElement) => Consumer | Promise<Consumer>;
