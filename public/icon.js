// The tab's icon, from a blob, because the page's policy allows images only from blobs. Set while the head is parsed:
// without an icon at its end, Firefox requests /favicon.ico, which the policy forbids.
{
  // Three lines of a transcript, the middle one indented: a thought, a call, an answer.
  const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="4" fill="#14171a"/>
<path d="M6 9h20M11 16h15M6 23h13" stroke="#e2e5e8" stroke-width="3"/>
<path d="M5 16h3" stroke="#56c8d8" stroke-width="3"/>
</svg>`;
  const link = document.createElement("link");
  link.rel = "icon";
  link.type = "image/svg+xml";
  link.href = URL.createObjectURL(new Blob([icon], { type: "image/svg+xml" }));
  document.head.append(link);
}
