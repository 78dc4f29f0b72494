/** Components of every screen that are invisible, so that their script can be loaded after the screen's. */
export { Announcements } from "./Announcements.tsx";
export { Notifications } from "./Notifications.tsx";
