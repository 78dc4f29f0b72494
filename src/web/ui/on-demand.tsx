import { type ComponentType, createElement, type ReactNode, useEffect, useSyncExternalStore } from "react";
import { t } from "../text/text.ts";

/** A component whose script is loaded when it is first rendered, or before by `load`. */
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
  /** Stands there until the script has come. */
  readonly fallback?: ReactNode;
  /** A fetch that failed is thrown to the error boundary above, instead of being shown in place. */
  readonly throws?: boolean;
}

/** Loads of all such components in the scripts that are on the page. */
const loads = new Set<() => Promise<void>>();

/**
 * Once its script is there the component renders at once, with no fallback in between, which `React.lazy` cannot promise. A fetch
 * that failed is shown, with a way to reload the page, and made again by the next `load` and the next component that is mounted.
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

/** Loads one script after the other, also those that a loaded one brings in turn. */
export async function loadAllOnDemand(): Promise<void> {
  // What is added while the set is walked is visited, too.
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

/** How long a busy page may put off loading, in milliseconds. */
const IDLE_MS = 1_500;
