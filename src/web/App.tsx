import { type ReactNode, useEffect } from "react";
import { followLinks, parseRoute, useHref } from "./router.ts";
import { SessionScreen } from "./session/SessionScreen.tsx";
import { SessionsScreen } from "./sessions/SessionsScreen.tsx";
import { type Client, ClientProvider, useConnection } from "./store.ts";

/** The page. `client` holds all that it knows. */
export function App({ client }: { client: Client }): ReactNode {
  return (
    <ClientProvider value={client}>
      <Screen />
    </ClientProvider>
  );
}

function Screen(): ReactNode {
  const { status } = useConnection();
  const href = useHref();
  useEffect(followLinks, []);

  if (status === "unauthorized") return <SignedOut />;
  const route = parseRoute(new URL(href, location.href));
  switch (route.screen) {
    case "sessions":
      return <SessionsScreen />;
    case "session":
      return <SessionScreen session_id={route.session_id} fragment={route.fragment} beside={route.beside} />;
    case "nowhere":
      return (
        <main className="blank">
          <h1>No such page</h1>
          <p>
            <code>{route.path}</code> is no address of Verbatim.
          </p>
          <p>
            <a href="/">All sessions</a>
          </p>
        </main>
      );
  }
  return route satisfies never;
}

function SignedOut(): ReactNode {
  useEffect(() => {
    document.title = "Verbatim: signed out";
  }, []);
  return (
    <main className="blank">
      <h1>This browser is not signed in</h1>
      <p>
        Verbatim shows sessions only to a browser that was opened with a launch link. Each link works once.
        For a new one, in the folder of Verbatim:
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
