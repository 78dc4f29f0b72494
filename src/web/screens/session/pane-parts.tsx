import { onDemand } from "../../ui/on-demand.tsx";

/** Components of a session's pane that are not needed initially. Loaded when the page is idle or when they are first used. */
export const AgentDialog = onDemand(async () => (await import("./AgentDialog.tsx")).AgentDialog);
export const Composer = onDemand(async () => (await import("../../composer/Composer.tsx")).Composer, {
  fallback: <section className="composer composer-loading" aria-busy="true" />,
});
export const FilterBar = onDemand(async () => (await import("./FilterBar.tsx")).FilterBar);
export const Find = onDemand(async () => (await import("./Find.tsx")).Find);
export const ForkDialog = onDemand(async () => (await import("./ForkDialog.tsx")).ForkDialog);
export const Inspector = onDemand(async () => (await import("./inspect/Inspector.tsx")).Inspector);
export const LanesPanel = onDemand(async () => (await import("./lanes/LanesPanel.tsx")).LanesPanel);
export const OutlineMap = onDemand(async () => (await import("./OutlineMap.tsx")).OutlineMap, {
  fallback: <div className="map" />,
});
export const OpenRequests = onDemand(async () => (await import("../requests/OpenRequests.tsx")).OpenRequests);
export const TerminalComposer = onDemand(
  async () => (await import("../requests/TerminalComposer.tsx")).TerminalComposer,
);
