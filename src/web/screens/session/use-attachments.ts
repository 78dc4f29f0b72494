import { useCallback, useEffect, useRef } from "react";
import type { Api } from "../../api/api.ts";
import { failureText } from "../../text/failure-text.ts";
import { t } from "../../text/text.ts";
import type { Attachment } from "../../transcript/host.ts";

/** How many bytes at the start of an image are searched for its dimensions, which metadata and colour profiles may precede. */
const MAX_HEADER = 1024 * 1024;

/**
 * Returns a stable function that loads an attachment by its reference. Attachments are cached until the component is unmounted.
 */
export function useAttachments(api: Api, session_id: string): (reference: string) => Promise<Attachment> {
  const attachments = useRef(new Map<string, Promise<Attachment>>());
  useEffect(() => {
    const loaded = attachments.current;
    return () => {
      for (const attachment of loaded.values())
        void attachment.then(
          ({ address }) => URL.revokeObjectURL(address),
          () => {},
        );
      loaded.clear();
    };
  }, []);
  return useCallback(
    (reference) => {
      const known = attachments.current.get(reference);
      if (known !== undefined) return known;
      const [, part_id, n] = /^attachment:(.+):(\d+)$/.exec(reference) ?? [];
      if (part_id === undefined) return Promise.reject(new Error(t.media.noAttachment(reference)));
      const attachment = api.attachment(session_id, part_id, Number(n)).then((reply) => {
        if (reply.ok) return attachmentOf(reply.value);
        attachments.current.delete(reference);
        throw new Error(failureText(reply.failure));
      });
      attachments.current.set(reference, attachment);
      return attachment;
    },
    [api, session_id],
  );
}

async function attachmentOf(blob: Blob): Promise<Attachment> {
  const { imageSize } = await import("../../../model/image-size.ts");
  const size = imageSize(new Uint8Array(await blob.slice(0, MAX_HEADER).arrayBuffer()));
  return {
    address: URL.createObjectURL(blob),
    byte_size: blob.size,
    ...(size === undefined ? {} : { pixels: size.width * size.height }),
  };
}
