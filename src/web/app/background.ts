/** Parts of every screen that show nothing, so their script is loaded after the screen. */
export { Announcements } from "./Announcements.tsx";
export { Notifications } from "./Notifications.tsx";
