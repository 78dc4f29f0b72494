import { type ComponentType, createElement, type ReactNode, useEffect, useSyncExternalStore } from "react";
import { t } from "../text/text.ts";

/** A component whose script is loaded when it is first rendered, or earlier by `load`. */
export interface OnDemand<Props extends object> {
  (props: Props): ReactNode;
  /** Loads the script. Resolves in any case: if it could not be fetched, the component says so once it is rendered. */
  load(): Promise<void>;
}

interface Loaded<Props extends object> {
  readonly component?: ComponentType<Props>;
  readonly failure?: { readonly error: unknown };
}

interface OnDemandOptions {
  /** Shown until the script is loaded. */
  readonly fallback?: ReactNode;
  /** Throws a failed fetch to the error boundary above, instead of showing it in place. */
  readonly throws?: boolean;
}

/** The loaders of all such components in the loaded scripts. */
const loads = new Set<() => Promise<void>>();

/**
 * Once its script is loaded, the component renders synchronously, without a fallback, which `React.lazy` does not guarantee. A
 * failed fetch is shown with a button that reloads the page, and is retried by the next `load` and the next mounted component.
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

/** Loads one script after the other, including those that loaded scripts register. */
export async function loadAllOnDemand(): Promise<void> {
  // Iterating a set also visits elements that are added meanwhile.
  for (const load of loads) await load();
}

/** Loads all scripts once the browser has nothing else to do. Returns a function that cancels it. */
export function loadAllWhenIdle(): () => void {
  // Safari has no `requestIdleCallback`.
  if (globalThis.requestIdleCallback === undefined) {
    const timer = setTimeout(() => void loadAllOnDemand(), IDLE_MS);
    return () => clearTimeout(timer);
  }
  const idle = requestIdleCallback(() => void loadAllOnDemand(), { timeout: IDLE_MS });
  return () => cancelIdleCallback(idle);
}

/** Maximum delay of loading on a busy page, in milliseconds. */
const IDLE_MS = 1_500;
