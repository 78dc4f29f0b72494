import { type ComponentType, createElement, type ReactNode, useEffect, useSyncExternalStore } from "react";
import { t } from "../text/text.ts";

/** A component whose script is loaded when it is first mounted, or earlier by `load`. */
export interface OnDemand<Props extends object> {
  (props: Props): ReactNode;
  /** Loads the script. Never rejects: if it cannot be fetched, the component shows the failure when it is rendered. */
  load(): Promise<void>;
}

interface Loaded<Props extends object> {
  readonly component?: ComponentType<Props>;
  readonly failure?: { readonly error: unknown };
}

interface OnDemandOptions {
  /** Shown until the script is loaded. */
  readonly fallback?: ReactNode;
  /** Whether a failed fetch is thrown to the enclosing error boundary instead of being shown by the component. */
  readonly throws?: boolean;
}

/** The loaders of all on-demand components in the scripts that are loaded so far. */
const loads = new Set<() => Promise<void>>();

/**
 * Creates an on-demand component. Once its script is loaded, it renders synchronously without a fallback, which `React.lazy` does
 * not guarantee. A failed fetch is shown with a button that reloads the page. It is retried by the next call of `load` and
 * whenever the component is mounted.
 */
export function onDemand<Props extends object>(
  fetchComponent: () => Promise<ComponentType<Props>>,
  { fallback = null, throws = false }: OnDemandOptions = {},
): OnDemand<Props> {
  let state: Loaded<Props> = {};
  let loading: Promise<void> | undefined;
  const listeners = new Set<() => void>();
  const set = (next: Loaded<Props>): void => {
    state = next;
    for (const listener of listeners) listener();
  };
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const load = (): Promise<void> => {
    if (loading !== undefined) return loading;
    if (state.failure !== undefined) set({});
    loading = fetchComponent().then(
      (component) => set({ component }),
      (error: unknown) => {
        loading = undefined;
        set({ failure: { error } });
      },
    );
    return loading;
  };
  loads.add(load);

  function Component(props: Props): ReactNode {
    const { component, failure } = useSyncExternalStore(subscribe, () => state);
    useEffect(() => void load(), []);
    if (component !== undefined) return createElement(component, props);
    if (failure === undefined) return fallback;
    if (throws) throw failure.error;
    return <ScriptFailure />;
  }
  return Object.assign(Component, { load });
}

function ScriptFailure(): ReactNode {
  return (
    <p className="notice notice-error" role="alert">
      {t.app.scriptLost}{" "}
      <button type="button" className="button" onClick={() => location.reload()}>
        {t.app.reloadPage}
      </button>
    </p>
  );
}

/** Loads all scripts sequentially, including those of on-demand components in the scripts that it loads. */
export async function loadAllOnDemand(): Promise<void> {
  // Iterating over a set also visits elements that are added during the iteration.
  for (const load of loads) await load();
}

/** Loads all scripts once the browser is idle. Returns a function that cancels this if loading has not begun. */
export function loadAllWhenIdle(): () => void {
  // Safari has no `requestIdleCallback`.
  if (globalThis.requestIdleCallback === undefined) {
    const timer = setTimeout(() => void loadAllOnDemand(), IDLE_MS);
    return () => clearTimeout(timer);
  }
  const idle = requestIdleCallback(() => void loadAllOnDemand(), { timeout: IDLE_MS });
  return () => cancelIdleCallback(idle);
}

/** Maximum delay before loading begins on a busy page, in milliseconds. */
const IDLE_MS = 1_500;
