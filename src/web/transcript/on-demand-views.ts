import { onDemand } from "../ui/on-demand.tsx";

/** Views that are not needed when a session is opened: attachments and raw records, which have to wait for the daemon anyway. */
export const MediaView = onDemand(async () => (await import("./MediaView.tsx")).MediaView);
export const RawView = onDemand(async () => (await import("./RawView.tsx")).RawView);
