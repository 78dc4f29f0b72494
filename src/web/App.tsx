import {
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
} from "react";
import { loadHelpDialogs } from "./HelpAndSettings.tsx";
import { followLinks, parseRoute, type Route, useAddress } from "./router.ts";
import { ScreenFailure } from "./ScreenFailure.tsx";
import { SessionsScreen } from "./sessions/SessionsScreen.tsx";
import { type Client, ClientProvider, useConnection, useStatus } from "./store.ts";
import { ErrorBoundary } from "./ui/ErrorBoundary.tsx";
import { usePageTitle } from "./waiting.ts";

/** With it come Markdown and the tool cards: the list is on screen before they are. */
const loadSessionScreen = () => import("./session/SessionScreen.tsx");

/** The screens whose scripts come when they are wanted. */
const lazyScreens = () => ({
  SessionScreen: lazy(async () => ({ default: (await loadSessionScreen()).SessionScreen })),
  NewSessionScreen: lazy(async () => ({
    default: (await import("./new-session/NewSessionScreen.tsx")).NewSessionScreen,
  })),
});

/** The page. `client` holds all that it knows. */
export function App({ client }: { client: Client }): ReactNode {
  return (
    <ClientProvider value={client}>
      <Outdated />
      <Screen />
    </ClientProvider>
  );
}

/** Says on every screen that the daemon serves another page by now than this one. */
function Outdated(): ReactNode {
  const { outdated } = useStatus();
  // By a class: a rule that looks for the notice itself costs each row that comes or goes a look at the whole page.
  useLayoutEffect(() => {
    document.documentElement.classList.toggle("is-outdated", outdated);
  }, [outdated]);
  if (!outdated) return null;
  return (
    <p className="notice notice-warning outdated" role="alert">
      The daemon was updated since this page was loaded.{" "}
      <button type="button" className="button" onClick={() => location.reload()}>
        Load the page anew
      </button>
    </p>
  );
}

function Screen(): ReactNode {
  const { status } = useConnection();
  const { href, visit } = useAddress();
  const [attempt, setAttempt] = useState(0);
  const tryAgain = useCallback(() => setAttempt((before) => before + 1), []);
  // What could not be fetched is not asked for again by the one that failed.
  const screens = useMemo(lazyScreens, [attempt]);
  const [announcing, setAnnouncing] = useState<Awaited<ReturnType<typeof loadSessionScreen>>>();
  useEffect(followLinks, []);
  // Fetched while one reads the list, so that a click does not wait for it. Offline it is tried again on the click.
  useEffect(() => {
    const timer = setTimeout(() => {
      void loadSessionScreen().then(setAnnouncing, () => {});
      void loadHelpDialogs().catch(() => {});
    }, 500);
    return () => clearTimeout(timer);
  }, []);

  if (status === "unauthorized") return <SignedOut />;
  const route = parseRoute(new URL(href, location.href));
  return (
    <>
      {/* There before anything is said in it: a region that comes together with its words may not be heard. */}
      <p className="unseen" role="status">
        {announcing !== undefined && (
          <ErrorBoundary of={href} fallback={() => "What happens here cannot be announced."}>
            <announcing.Announcements
              session_id={route.screen === "session" ? route.session_id : undefined}
            />
          </ErrorBoundary>
        )}
      </p>
      <ErrorBoundary
        of={`${href} ${attempt}`}
        fallback={(error) => <ScreenFailure error={error} tryAgain={tryAgain} />}
      >
        <RoutedScreen route={route} visit={visit} screens={screens} />
      </ErrorBoundary>
    </>
  );
}

function RoutedScreen({
  route,
  visit,
  screens: { SessionScreen, NewSessionScreen },
}: {
  route: Route;
  visit: number;
  screens: ReturnType<typeof lazyScreens>;
}): ReactNode {
  switch (route.screen) {
    case "sessions":
      return <SessionsScreen filter={route} />;
    case "new":
      return (
        <Suspense fallback={<main className="blank" aria-busy="true" />}>
          <NewSessionScreen />
        </Suspense>
      );
    case "session":
      return (
        <Suspense fallback={<main className="blank" aria-busy="true" />}>
          <SessionScreen
            session_id={route.session_id}
            fragment={route.fragment}
            visit={visit}
            beside={route.beside}
          />
        </Suspense>
      );
    case "nowhere":
      return <NoSuchPage path={route.path} />;
  }
  return route satisfies never;
}

function NoSuchPage({ path }: { path: string }): ReactNode {
  usePageTitle("No such page · Verbatim");
  return (
    <main className="blank">
      <h1>No such page</h1>
      <p>
        <code>{path}</code> is no address of Verbatim.
      </p>
      <p>
        <a href="/">All sessions</a>
      </p>
    </main>
  );
}

function SignedOut(): ReactNode {
  useEffect(() => {
    document.title = "Verbatim: signed out";
  }, []);
  return (
    <main className="blank">
      <h1>This browser is not signed in</h1>
      <p>
        Where there is a password, Try again asks for it. A launch link works once. For a new one, in the
        folder of Verbatim:
      </p>
      <p>
        <code>npm start -- --link</code>
      </p>
      <p>Open the address that it prints; this page then works again, in every tab.</p>
      <p>
        <button type="button" className="button" onClick={() => location.reload()}>
          Try again
        </button>
      </p>
    </main>
  );
}
