import "../text/session-text.ts";
import { type ReactNode, useEffect, useState } from "react";
import { visibleText } from "../../hidden-text/hidden-text.ts";
import type { MediaPart } from "../../model/messages/part.ts";
import { CodeBlock } from "../code/CodeBlock.tsx";
import { t } from "../text/text.ts";
import { reasonOf } from "../ui/ErrorBoundary.tsx";
import { visible } from "../ui/hidden-text.tsx";
import { RemoteImage } from "../ui/SafeLink.tsx";
import { byteSize } from "../ui/size.ts";
import type { Attachment, TranscriptHost } from "./host.ts";

/** Larger images are decoded only on request: a file of a few bytes can declare an image that exhausts the memory. */
const MAX_BYTES = 5 * 1024 * 1024;
const MAX_PIXELS = 25_000_000;

/** An image or file of the record. Only data that the daemon has is loaded (as a blob), nothing from the network. */
export function MediaView({ media, host }: { media: MediaPart; host: TranscriptHost }): ReactNode {
  switch (media.type) {
    case "image_url":
      return media.url.startsWith("attachment:") ? (
        <LocalImage reference={media.url} name={t.media.image} host={host} />
      ) : (
        <RemoteImage src={media.url} alt={t.media.image} />
      );
    case "image_file":
      return (
        <FileLine
          name={media.file_path}
          detail={[
            media.mime_type && visibleText(media.mime_type, "name"),
            media.byte_size === undefined ? undefined : byteSize(media.byte_size),
          ]}
        />
      );
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
          detail={[visibleText(media.mime, "name")]}
          {...(media.url.startsWith("attachment:") ? { reference: media.url, host } : {})}
        />
      );
    }
    case "unknown":
      return (
        <CodeBlock code={JSON.stringify(media.raw, null, 2) ?? ""} language="json" title={t.media.unknown} />
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
            load(reference).then(
              (loaded) => setAddress(loaded.address),
              (error: unknown) => setFailure(reasonOf(error)),
            );
          }}
        >
          {t.media.get}
        </button>
      )}
      {address !== undefined && (
        <a className="action" href={address} download={visibleText(name, "name").replace(/[/\\]/g, "_")}>
          {t.media.save}
        </a>
      )}
      {failure !== undefined && (
        <span className="note">
          {t.common.notLoadedFor} {visible(failure, "prose")}
        </span>
      )}
    </p>
  );
}

function LocalImage({
  reference,
  name,
  host,
}: {
  reference: string;
  name: string;
  host: TranscriptHost;
}): ReactNode {
  const [image, setImage] = useState<Attachment>();
  const [failure, setFailure] = useState<string>();
  const [wanted, setWanted] = useState(false);
  const { loadAttachment } = host;
  useEffect(() => {
    if (!loadAttachment) return;
    let isMounted = true;
    loadAttachment(reference).then(
      (loaded) => {
        if (isMounted) setImage(loaded);
      },
      (error: unknown) => {
        if (isMounted) setFailure(reasonOf(error));
      },
    );
    return () => {
      isMounted = false;
    };
  }, [reference, loadAttachment]);
  if (!loadAttachment) return <FileLine name={name} detail={[t.media.notHere]} />;
  if (failure !== undefined)
    return (
      <p className="note">
        {t.media.failed} {visible(failure, "prose")}
      </p>
    );
  if (!image?.address.startsWith("blob:")) return <p className="note image-waiting">{t.media.loading}</p>;
  const excess = excessOf(image);
  if (excess !== undefined && !wanted) {
    return (
      <p className="note">
        {t.media.notShown(excess)}{" "}
        <button type="button" className="action" onClick={() => setWanted(true)}>
          {t.media.show}
        </button>
      </p>
    );
  }
  return (
    <img
      className="transcript-image"
      src={image.address}
      alt={visibleText(name, "name")}
      onError={() => setFailure(t.part.noImage)}
    />
  );
}

/** Why an image is decoded only on request; `undefined`: it is decoded immediately. */
function excessOf({ byte_size, pixels }: Attachment): string | undefined {
  if (byte_size > MAX_BYTES) return t.media.has(byteSize(byte_size));
  if (pixels === undefined) return t.media.unknownPixels;
  if (pixels > MAX_PIXELS) return t.media.megapixels(Math.round(pixels / 1e6));
  return undefined;
}
