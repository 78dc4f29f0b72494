import "./theme.css";
import "../ui/button.css";
import "../ui/field.css";
import "../ui/badge.css";
import "../ui/chips.css";
import "../ui/notice.css";
import "../ui/dialog.css";
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useState } from "react";
import { useStore } from "zustand";
import { t } from "../text/text.ts";
import { ErrorBoundary, reasonOf } from "../ui/ErrorBoundary.tsx";
import { loadAllWhenIdle, onDemand } from "../ui/on-demand.tsx";
import { loadHelpDialogs } from "./HelpAndSettings.tsx";
import { useKeys } from "./keys.ts";
import { OpenFiles } from "./OpenFiles.tsx";
import { closePalette, pageKeys, palette } from "./page-keys.ts";
import { followLinks, parseRoute, type Route, useAddress } from "./router.ts";
import { ScreenFailure } from "./ScreenFailure.tsx";
import { type Client, ClientProvider, useClient, useConnection, useStatus } from "./store.ts";
import { usePageTitle } from "./waiting.ts";

/** Each screen has its own script, so that the first one need not wait for the others. */
const ON_DEMAND = { fallback: <main className="blank" aria-busy="true" />, throws: true };
const SessionsScreen = onDemand(
  async () => (await import("../screens/sessions/SessionsScreen.tsx")).SessionsScreen,
  ON_DEMAND,
);
const SessionScreen = onDemand(
  async () => (await import("../screens/session/SessionScreen.tsx")).SessionScreen,
  ON_DEMAND,
);
const NewSessionScreen = onDemand(
  async () => (await import("../screens/new-session/NewSessionScreen.tsx")).NewSessionScreen,
  ON_DEMAND,
);
const SearchScreen = onDemand(
  async () => (await import("../screens/search/SearchScreen.tsx")).SearchScreen,
  ON_DEMAND,
);
const UsageScreen = onDemand(
  async () => (await import("../screens/usage/UsageScreen.tsx")).UsageScreen,
  ON_DEMAND,
);

const RulesScreen = onDemand(
  async () => (await import("../screens/rules/RulesScreen.tsx")).RulesScreen,
  ON_DEMAND,
);

/** Loads the screen of a route. Never rejects: a screen that failed to load shows the error when it is rendered. */
export async function loadScreen({ screen }: Route): Promise<void> {
  switch (screen) {
    case "sessions":
      return SessionsScreen.load();
    case "session":
      return SessionScreen.load();
    case "new":
      return NewSessionScreen.load();
    case "search":
      return SearchScreen.load();
    case "usage":
      return UsageScreen.load();
    case "rules":
      return RulesScreen.load();
    case "not-found":
      return;
  }
  return screen satisfies never;
}

/** The page. `client` holds all of its data. */
export function App({ client }: { client: Client }): ReactNode {
  return (
    <ClientProvider value={client}>
      <Outdated />
      <Screen />
    </ClientProvider>
  );
}

/** Tells the user, on every screen, that the daemon serves a newer version of the page. */
function Outdated(): ReactNode {
  const { outdated } = useStatus();
  // A class, because a `:has()` rule would make the browser check the whole page whenever a row is added or removed.
  useLayoutEffect(() => {
    document.documentElement.classList.toggle("is-outdated", outdated);
  }, [outdated]);
  if (!outdated) return null;
  return (
    <p className="notice notice-warning outdated" role="alert">
      {t.app.outdated}{" "}
      <button type="button" className="button" onClick={() => location.reload()}>
        {t.app.reload}
      </button>
    </p>
  );
}

const UnlockDialog = onDemand(async () => (await import("./UnlockDialog.tsx")).UnlockDialog);

/** Asks for the passphrase while an answer to an agent is waiting for it. */
function Unlocking(): ReactNode {
  const isWaiting = useStore(useClient().answer_lock, ({ waiting }) => waiting !== undefined);
  return isWaiting && <UnlockDialog />;
}

const loadBackground = () => import("./background.ts");

const loadPalette = () => import("../screens/palette/Palette.tsx");

/** The command palette. Its script is loaded when it is first opened. */
function OpenPalette({ session_id }: { session_id: string | undefined }): ReactNode {
  const bindings = useStore(palette, (state) => state.bindings);
  const [loaded, setLoaded] = useState<Awaited<ReturnType<typeof loadPalette>>>();
  const isWanted = bindings !== undefined;
  useEffect(() => {
    if (!isWanted || loaded !== undefined) return;
    // If the script cannot be fetched, the palette stays closed: the page already shows that it is disconnected.
    loadPalette().then(setLoaded, closePalette);
  }, [isWanted, loaded]);
  useEffect(() => closePalette, []);
  if (loaded === undefined || bindings === undefined) return null;
  return <loaded.Palette bindings={bindings} session_id={session_id} onClose={closePalette} />;
}

function Screen(): ReactNode {
  const { status } = useConnection();
  const { href, visit } = useAddress();
  const [attempt, setAttempt] = useState(0);
  const tryAgain = useCallback(() => {
    void loadScreen(parseRoute(new URL(location.href)));
    setAttempt((before) => before + 1);
  }, []);
  const [background, setBackground] = useState<Awaited<ReturnType<typeof loadBackground>>>();
  useEffect(followLinks, []);
  useKeys(pageKeys());
  // Prefetched, so that a click need not wait. If prefetching fails, the click fetches the script again.
  useEffect(() => {
    let cancel: (() => void) | undefined;
    const timer = setTimeout(() => {
      void loadBackground().then(setBackground, () => {});
      void loadHelpDialogs().catch(() => {});
      void loadPalette().catch(() => {});
      cancel = loadAllWhenIdle();
    }, 500);
    return () => {
      clearTimeout(timer);
      cancel?.();
    };
  }, []);

  if (status === "unauthorized") return <SignedOut />;
  const route = parseRoute(new URL(href, location.href));
  return (
    <>
      {/* Rendered while it is empty: screen readers may miss a live region that is added together with its text. */}
      <p className="unseen" role="status">
        {background !== undefined && (
          <ErrorBoundary of={href} fallback={() => t.announce.cannot}>
            <background.Announcements
              session_id={route.screen === "session" ? route.session_id : undefined}
            />
          </ErrorBoundary>
        )}
      </p>
      {background !== undefined && (
        <background.Notifications session_id={route.screen === "session" ? route.session_id : undefined} />
      )}
      <ErrorBoundary
        of={href}
        fallback={(error) => (
          <p className="notice notice-error" role="alert">
            {t.palette.failed(reasonOf(error))}
          </p>
        )}
      >
        <OpenPalette session_id={route.screen === "session" ? route.session_id : undefined} />
      </ErrorBoundary>
      <OpenFiles />
      <Unlocking />
      <ErrorBoundary
        of={`${href} ${attempt}`}
        fallback={(error) => <ScreenFailure error={error} tryAgain={tryAgain} />}
      >
        <RoutedScreen route={route} visit={visit} />
      </ErrorBoundary>
    </>
  );
}

function RoutedScreen({ route, visit }: { route: Route; visit: number }): ReactNode {
  switch (route.screen) {
    case "sessions":
      return <SessionsScreen filter={route} />;
    case "new":
      return <NewSessionScreen />;
    case "search":
      return <SearchScreen text={route.text} />;
    case "usage":
      return <UsageScreen by={route.by} days={route.days} />;
    case "rules":
      return <RulesScreen />;
    case "session":
      return (
        <SessionScreen
          session_id={route.session_id}
          fragment={route.fragment}
          visit={visit}
          beside={route.beside}
          find={route.find}
        />
      );
    case "not-found":
      return <NoSuchPage path={route.path} />;
  }
  return route satisfies never;
}

function NoSuchPage({ path }: { path: string }): ReactNode {
  usePageTitle(t.app.notFoundTitle);
  return (
    <main className="blank">
      <h1>{t.app.notFound}</h1>
      <p>
        <code>{path}</code> {t.app.noAddress}
      </p>
      <p>
        <a href="/">{t.common.allSessions}</a>
      </p>
    </main>
  );
}

function SignedOut(): ReactNode {
  useEffect(() => {
    document.title = t.app.signedOutTitle;
  }, []);
  return (
    <main className="blank">
      <h1>{t.app.signedOut}</h1>
      <p>{t.app.signIn}</p>
      <p>
        <code>npm start -- --link</code>
      </p>
      <p>{t.app.openLink}</p>
      <p>
        <button type="button" className="button" onClick={() => location.reload()}>
          {t.common.tryAgain}
        </button>
      </p>
    </main>
  );
}
