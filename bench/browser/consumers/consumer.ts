/** Renders a growing text. */
export interface Consumer {
  push(delta: string): void;
  end(): void;
}
export type Mount = (root: HTMLElement) => Consumer | Promise<Consumer>;
