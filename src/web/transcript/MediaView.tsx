import { type ReactNode, useEffect, useState } from "react";
import type { MediaPart } from "../../model/part.ts";
import { CodeBlock } from "../ui/CodeBlock.tsx";
import { visible, visibleText } from "../ui/hidden-text.tsx";
import { RemoteImage } from "../ui/SafeLink.tsx";
import { byteSize } from "../ui/size.tsx";
import type { TranscriptHost } from "./host.ts";

/** Beyond these an image is decoded only when somebody asks. */
const MAX_BYTES = 5 * 1024 * 1024;

/** An image or file that is part of the record. Only what the daemon itself keeps is ever loaded, as a blob. */
export function MediaView({ media, host }: { media: MediaPart; host: TranscriptHost }): ReactNode {
  switch (media.type) {
    case "image_url":
      return media.url.startsWith("attachment:") ? (
        <LocalImage reference={media.url} name="image" host={host} />
      ) : (
        <RemoteImage src={media.url} alt="image" />
      );
    case "image_file": {
      const name = media.file_path.startsWith("attachment:") ? "image" : media.file_path;
      return media.file_path.startsWith("attachment:") ? (
        <LocalImage reference={media.file_path} name={name} host={host} byteSize={media.byte_size} />
      ) : (
        <FileLine
          name={name}
          detail={[media.mime_type, media.byte_size === undefined ? undefined : byteSize(media.byte_size)]}
        />
      );
    }
    case "file": {
      const name =
        media.filename ??
        (media.url.startsWith("attachment:") || media.url.startsWith("data:") ? "file" : media.url);
      return media.mime.startsWith("image/") &&
        media.mime !== "image/svg+xml" &&
        media.url.startsWith("attachment:") ? (
        <LocalImage reference={media.url} name={name} host={host} />
      ) : (
        <FileLine
          name={name}
          detail={[media.mime]}
          {...(media.url.startsWith("attachment:") ? { reference: media.url, host } : {})}
        />
      );
    }
    case "unknown":
      return (
        <CodeBlock
          code={JSON.stringify(media.raw, null, 2) ?? ""}
          language="json"
          title="unknown attachment"
        />
      );
    default:
      return media satisfies never;
  }
}

function FileLine({
  name,
  detail,
  reference,
  host,
}: {
  name: string;
  detail: readonly (string | undefined)[];
  reference?: string;
  host?: TranscriptHost;
}): ReactNode {
  const [address, setAddress] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const load = host?.loadAttachment;
  return (
    <p className="file-line">
      <span className="file-path">{visible(name, "name")}</span>{" "}
      <span className="subject-more">{detail.filter((each) => each !== undefined).join(" · ")}</span>{" "}
      {reference !== undefined && load !== undefined && address === undefined && (
        <button
          type="button"
          className="action"
          onClick={() => {
            load(reference).then(setAddress, (error: unknown) =>
              setFailure(error instanceof Error ? error.message : String(error)),
            );
          }}
        >
          Get file
        </button>
      )}
      {address !== undefined && (
        <a className="action" href={address} download={visibleText(name, "name").replace(/[/\\]/g, "_")}>
          Save file
        </a>
      )}
      {failure !== undefined && <span className="note">Not loaded: {visible(failure, "prose")}</span>}
    </p>
  );
}

function LocalImage({
  reference,
  name,
  host,
  byteSize: bytes,
}: {
  reference: string;
  name: string;
  host: TranscriptHost;
  byteSize?: number | undefined;
}): ReactNode {
  const [address, setAddress] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const [wanted, setWanted] = useState(bytes === undefined || bytes <= MAX_BYTES);
  const { loadAttachment } = host;
  useEffect(() => {
    if (!wanted || !loadAttachment) return;
    let mounted = true;
    loadAttachment(reference).then(
      (loaded) => {
        if (mounted) setAddress(loaded);
      },
      (error: unknown) => {
        if (mounted) setFailure(error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      mounted = false;
    };
  }, [reference, loadAttachment, wanted]);
  if (!loadAttachment) return <FileLine name={name} detail={["not in this document"]} />;
  if (failure !== undefined)
    return <p className="note">The image could not be loaded: {visible(failure, "prose")}</p>;
  if (!wanted) {
    return (
      <button type="button" className="show-all" onClick={() => setWanted(true)}>
        Show image ({byteSize(bytes ?? 0)})
      </button>
    );
  }
  return address?.startsWith("blob:") ? (
    <img
      className="transcript-image"
      src={address}
      alt={visibleText(name, "name")}
      onError={() => setFailure("it is no image that this browser can show")}
    />
  ) : (
    <p className="note image-waiting">Loading the image…</p>
  );
}
