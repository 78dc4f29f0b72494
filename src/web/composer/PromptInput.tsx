import {
  type Dispatch,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  type SetStateAction,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { MOST_IMAGES } from "../../protocol.ts";
import { composing } from "../ui/composing.ts";
import { ACCEPTED, blobOf, readImages } from "./images.ts";

interface Props {
  /** The accessible name. */
  label: string;
  placeholder?: string;
  text: string;
  images: readonly string[];
  /** Whether the model takes images; where it does not, that is said. */
  takesImages: boolean;
  readOnly?: boolean;
  /** How often images are being read just now: nothing is sent until they are. */
  reading: number;
  onReading: Dispatch<SetStateAction<number>>;
  input: RefObject<HTMLTextAreaElement | null>;
  /** Stands under the words, to be read with them. */
  describedBy?: string;
  invalid?: boolean;
  onText(text: string): void;
  onImages(images: readonly string[]): void;
  /** Enter; `alt`: with Alt. */
  onSend(alt: boolean): void;
  onEscape?(): void;
  /** Buttons behind the one that adds images. */
  children?: ReactNode;
}

/** Words and pictures of a prompt. Enter sends, with Shift it begins a line; on a touch screen it always does. */
export function PromptInput({
  label,
  placeholder,
  text,
  images,
  takesImages,
  readOnly: isSent = false,
  reading,
  onReading,
  input,
  describedBy,
  invalid = false,
  onText,
  onImages,
  onSend,
  onEscape,
  children,
}: Props): ReactNode {
  const chooser = useRef<HTMLInputElement>(null);
  const [refused, setRefused] = useState<readonly string[]>([]);
  const [over, setOver] = useState(false);
  /** Enter was pressed while images were read. */
  const [asked, setAsked] = useState<{ alt: boolean }>();
  const readOnly = isSent || asked !== undefined;
  // Read while they are added: what is there then, not what was there when the reading began.
  const latest = useRef(images);
  latest.current = images;

  useEffect(() => {
    if (asked === undefined || reading > 0) return;
    setAsked(undefined);
    // Who sends may have the page drawn at once, which React refuses in an effect.
    queueMicrotask(() => onSend(asked.alt));
  }, [asked, reading, onSend]);
  useLayoutEffect(() => {
    if (input.current !== null) fit(input.current);
  }, [input, text]);
  useEffect(() => {
    const field = input.current;
    if (field === null) return;
    let width = field.offsetWidth;
    let next = 0;
    const observer = new ResizeObserver(() => {
      if (field.offsetWidth === width) return;
      width = field.offsetWidth;
      // Not now: an observer that changes what it observes is an error.
      cancelAnimationFrame(next);
      next = requestAnimationFrame(() => fit(field));
    });
    observer.observe(field);
    return () => {
      cancelAnimationFrame(next);
      observer.disconnect();
    };
  }, [input]);

  const add = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0 || readOnly) return;
    if (!takesImages) {
      setRefused(["This model takes no images: save it in the folder, and say where it is."]);
      return;
    }
    onReading((count) => count + 1);
    const read = await readImages(files, MOST_IMAGES - latest.current.length);
    onReading((count) => count - 1);
    setRefused(read.refused);
    // It was meant to go with all of them.
    if (read.refused.length > 0) setAsked(undefined);
    if (read.images.length > 0) onImages([...latest.current, ...read.images].slice(0, MOST_IMAGES));
  };

  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (composing(event.nativeEvent)) return;
    const leave = asked === undefined ? onEscape : () => setAsked(undefined);
    if (event.key === "Escape" && leave !== undefined) {
      event.preventDefault();
      leave();
      return;
    }
    if (event.key !== "Enter" || event.shiftKey) return;
    const meant = event.ctrlKey || event.metaKey || event.altKey;
    if (!meant && matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    if (readOnly) return;
    if (reading > 0) setAsked({ alt: event.altKey });
    else onSend(event.altKey);
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is dropped here can be chosen with a button as well
    <div
      className={`prompt-input${over ? " is-over" : ""}${invalid ? " is-invalid" : ""}`}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        void add([...event.dataTransfer.files]);
      }}
    >
      {images.length > 0 && (
        <ul className="thumbnails" aria-label="Images of this prompt">
          {images.map((image, index) => (
            // Two equal pictures are two.
            <li key={`${index} ${image.length}`}>
              <Thumbnail image={image} name={`Image ${index + 1}`} />
              {!readOnly && (
                <button
                  type="button"
                  className="thumbnail-remove"
                  aria-label={`Remove image ${index + 1}`}
                  onClick={() => {
                    onImages(images.filter((_, at) => at !== index));
                    // This button goes away with the image.
                    input.current?.focus();
                  }}
                >
                  ×
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={input}
        className="prompt-text"
        aria-label={label}
        aria-describedby={describedBy}
        aria-invalid={invalid || undefined}
        placeholder={placeholder}
        value={text}
        readOnly={readOnly}
        rows={1}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={press}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          // An office program puts a picture of the words beside them. Without markup the words are a copied file's name.
          const isWords = ["text/html", "text/plain"].every(
            (type) => event.clipboardData.getData(type).trim() !== "",
          );
          if (files.length === 0 || isWords) return;
          event.preventDefault();
          void add(files);
        }}
      />
      {refused.length > 0 && (
        <p className="prompt-problem" role="alert">
          {refused.join(" ")}
        </p>
      )}
      <div className="prompt-buttons">
        <input
          ref={chooser}
          type="file"
          accept={ACCEPTED}
          multiple
          hidden
          onChange={(event) => {
            void add([...(event.target.files ?? [])]);
            // The same file can be chosen again.
            event.target.value = "";
          }}
        />
        <button
          type="button"
          className="button"
          disabled={readOnly || !takesImages || images.length >= MOST_IMAGES}
          title={takesImages ? "Or paste them, or drop them here" : "This model takes no images"}
          onClick={() => chooser.current?.click()}
        >
          {reading > 0 ? "Reading images" : "Add images"}
        </button>
        {children}
      </div>
    </div>
  );
}

/** Makes the field as high as what it holds, where the browser does not (composer.css). */
function fit(field: HTMLTextAreaElement): void {
  if (getComputedStyle(field).getPropertyValue("field-sizing") === "content") return;
  // Nothing around it becomes lower while it is measured: the transcript would not stand at its end any more.
  field.style.marginBottom = `${field.offsetHeight}px`;
  field.style.height = "0";
  field.style.height = `${field.scrollHeight}px`;
  field.style.marginBottom = "";
}

function Thumbnail({ image, name }: { image: string; name: string }): ReactNode {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    let made: string;
    try {
      made = URL.createObjectURL(blobOf(image));
    } catch {
      return;
    }
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [image]);
  return <img className="thumbnail" src={address} alt={name} />;
}
