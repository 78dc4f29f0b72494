import type { TurnTranscriptProps } from "../transcript/host.ts";
export function TurnTranscript({ turn, partAt, host, window, targetPartId }: TurnTranscriptProps) {
  return (
    <section style={{ height: window?.height, position: "relative" }} aria-label={turn.title ?? "Turn"}>
      <header
        ref={window?.measure}
        style={{ position: "sticky", top: 0, background: "var(--surface)", padding: "8px 16px", zIndex: 1 }}
      >
        <h2 style={{ margin: 0, fontSize: 15 }}>{turn.title}</h2>
      </header>
      {window?.rows.map(({ index, top }) => {
        const part = partAt(index);
        return (
          <div
            key={index}
            data-index={index}
            ref={window.measure}
            style={{
              position: "absolute",
              top,
              left: 16,
              right: 16,
              maxWidth: "76ch",
              padding: "4px 0",
              outline: part?.id === targetPartId && part ? "1px solid" : "none",
            }}
          >
            {part === undefined ? (
              "…"
            ) : part.type === "tool_call" ? (
              <details
                open={host.openState(part.id) ?? false}
                onToggle={(e) => {
                  if (e.currentTarget.open !== (host.openState(part.id) ?? false))
                    host.setOpen(part.id, e.currentTarget.open);
                }}
              >
                <summary>
                  {part.tool_name} {part.state.status}
                </summary>
                <pre>{part.arguments_json}</pre>
              </details>
            ) : part.type === "text" ? (
              <div style={{ whiteSpace: "pre-wrap" }}>{part.text}</div>
            ) : part.type === "thinking" ? (
              <i>{part.thinking}</i>
            ) : (
              part.type
            )}
          </div>
        );
      })}
    </section>
  );
}
