import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { MAX_IMAGES } from "../../protocol.ts";
import { t } from "../text/text.ts";
import { isComposing } from "../ui/composing.ts";
import { ACCEPTED, blobOf, type ReadImages, readImages } from "./images.ts";

interface Props {
  /** The accessible name. */
  label: string;
  placeholder?: string;
  text: string;
  images: readonly string[];
  /** Whether the model accepts images. If not, a message says so. */
  takesImages: boolean;
  readOnly: boolean;
  /** Whether images are being read. */
  isReading: boolean;
  /** Why images were not added. */
  imageProblems: readonly string[];
  input: RefObject<HTMLTextAreaElement | null>;
  /** Description below the input. */
  describedBy?: string;
  invalid?: boolean;
  onText(text: string): void;
  /** Called with the images without the removed one. */
  onImages(images: readonly string[]): void;
  /** Adds images. They may be read after the component is unmounted. */
  onAdd(reading: Promise<ReadImages>): void;
  /** Enter was pressed; `alt`: with Alt. */
  onSend(alt: boolean): void;
  onEscape(): void;
  /** Buttons after the one that adds images. */
  children?: ReactNode;
}

const noImagesAccepted = (): ReadImages => ({ images: [], imageProblems: [t.images.noneButFile] });

/** The text and images of a prompt. Enter sends, Shift+Enter begins a new line. On a touch screen, Enter begins a new line. */
export function PromptInput({
  label,
  placeholder,
  text,
  images,
  takesImages,
  readOnly,
  isReading,
  imageProblems,
  input,
  describedBy,
  invalid = false,
  onText,
  onImages,
  onAdd,
  onSend,
  onEscape,
  children,
}: Props): ReactNode {
  const chooser = useRef<HTMLInputElement>(null);
  const [isDraggedOver, setIsDraggedOver] = useState(false);

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
      // Deferred: a resize observer must not change the observed size.
      cancelAnimationFrame(next);
      next = requestAnimationFrame(() => fit(field));
    });
    observer.observe(field);
    return () => {
      cancelAnimationFrame(next);
      observer.disconnect();
    };
  }, [input]);

  const add = (files: readonly File[]): void => {
    if (files.length === 0 || readOnly) return;
    onAdd(takesImages ? readImages(files, MAX_IMAGES - images.length) : Promise.resolve(noImagesAccepted()));
  };

  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      onEscape();
      return;
    }
    if (event.key !== "Enter" || event.shiftKey) return;
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    if (!hasModifier && matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    if (!readOnly) onSend(event.altKey);
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keyboard alternative is the button that adds files
    <div
      className={`prompt-input${isDraggedOver ? " is-over" : ""}${invalid ? " is-invalid" : ""}`}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setIsDraggedOver(true);
      }}
      onDragLeave={() => setIsDraggedOver(false)}
      onDrop={(event) => {
        setIsDraggedOver(false);
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        add([...event.dataTransfer.files]);
      }}
    >
      {images.length > 0 && (
        <ul className="thumbnails" aria-label={t.images.list}>
          {images.map((image, index) => (
            // Equal images may occur twice.
            <li key={`${index} ${image.length}`}>
              <Thumbnail image={image} name={t.images.name(index + 1)} />
              {!readOnly && (
                <button
                  type="button"
                  className="thumbnail-remove"
                  aria-label={t.images.remove(index + 1)}
                  onClick={() => {
                    onImages(images.filter((_, at) => at !== index));
                    // This button is removed together with the image.
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
          // Office programs also copy an image of the text. Text without markup is the name of a copied file.
          const isWords = ["text/html", "text/plain"].every(
            (type) => event.clipboardData.getData(type).trim() !== "",
          );
          if (files.length === 0 || isWords) return;
          event.preventDefault();
          add(files);
        }}
      />
      {imageProblems.length > 0 && (
        <p className="prompt-problem" role="alert">
          {imageProblems.join(" ")}
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
            add([...(event.target.files ?? [])]);
            // Otherwise choosing the same file again would fire no event.
            event.target.value = "";
          }}
        />
        <button
          type="button"
          className="button"
          disabled={readOnly || !takesImages || images.length >= MAX_IMAGES}
          title={takesImages ? t.images.ways : t.images.none}
          onClick={() => chooser.current?.click()}
        >
          {isReading ? t.images.reading : t.images.add}
        </button>
        {children}
      </div>
    </div>
  );
}

/** Fits the height of the input to its text, in browsers without `field-sizing` (composer.css). */
function fit(field: HTMLTextAreaElement): void {
  if (getComputedStyle(field).getPropertyValue("field-sizing") === "content") return;
  // The surrounding height stays fixed while measuring. Otherwise the transcript would not stay scrolled to its end.
  field.style.marginBottom = `${field.offsetHeight}px`;
  field.style.height = "0";
  field.style.height = `${field.scrollHeight}px`;
  field.style.marginBottom = "";
}

function Thumbnail({ image, name }: { image: string; name: string }): ReactNode {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    let url: string;
    try {
      url = URL.createObjectURL(blobOf(image));
    } catch {
      return;
    }
    setAddress(url);
    return () => URL.revokeObjectURL(url);
  }, [image]);
  return <img className="thumbnail" src={address} alt={name} />;
}
