// To find elements by role, Testing Library asks for the `display` and the `visibility` of many elements. For each, jsdom matches
// all rules of its own style sheet, which took half of the time of these tests. Here jsdom is asked once for elements that this
// style sheet cannot distinguish. All other properties, and any other style sheets, are left to jsdom.

/** Attributes on which neither property depends. */
const WITHOUT_INFLUENCE = /^(?:aria-.*|data-.*|class|for|href|id|name|role|src|tabindex|title|value)$/;

const visibilities = new Map<string, Pick<CSSStyleDeclaration, "display" | "visibility">>();
const compute = window.getComputedStyle;

window.getComputedStyle = (element, pseudo) => {
  const kind = document.styleSheets.length === 0 ? kindOf(element) : undefined;
  if (kind === undefined || pseudo != null) return compute(element, pseudo);
  let style: CSSStyleDeclaration | undefined;
  const whole = (): CSSStyleDeclaration => {
    style ??= compute(element);
    return style;
  };
  let seen = visibilities.get(kind);
  if (seen === undefined) {
    const { display, visibility } = whole();
    seen = { display, visibility };
    visibilities.set(kind, seen);
  }
  const { display, visibility } = seen;
  const getPropertyValue = (property: string): string => {
    if (property === "display") return display;
    return property === "visibility" ? visibility : whole().getPropertyValue(property);
  };
  const known = { display, visibility, getPropertyValue };
  // The target only has to be an object: what it lacks is read from jsdom's declaration.
  return new Proxy(known as unknown as CSSStyleDeclaration, {
    get: (target, name) => Reflect.get(name in known ? target : whole(), name),
  });
};

/** The name and the attributes of an element. `undefined`: its state, or an element around it, has an influence too. */
function kindOf(element: Element): string | undefined {
  let kind = element.localName;
  for (const name of element.getAttributeNames()) {
    if (name === "popover") return undefined;
    if (!WITHOUT_INFLUENCE.test(name)) kind += ` ${name}=${element.getAttribute(name)}`;
  }
  for (let around: Element | null = element; around !== null; around = around.parentElement)
    if (around.getAttribute("style")?.includes("visibility")) return undefined;
  return kind;
}
