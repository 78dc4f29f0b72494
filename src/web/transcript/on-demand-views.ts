import { onDemand } from "../ui/on-demand.tsx";

/** Views that the first view of a session does without: attachments and raw records, which wait for the daemon in any case. */
export const MediaView = onDemand(async () => (await import("./MediaView.tsx")).MediaView);
export const RawView = onDemand(async () => (await import("./RawView.tsx")).RawView);
