import { crc32, deflateSync } from "node:zlib";

type Colour = [number, number, number];

/** A PNG drawn pixel by pixel. */
function png(width: number, height: number, colourAt: (x: number, y: number) => Colour): string {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rows.set(colourAt(x, y), y * (1 + width * 3) + 1 + x * 3);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const chunk = Buffer.alloc(body.length + 8);
    chunk.writeUInt32BE(data.length, 0);
    chunk.set(body, 4);
    chunk.writeUInt32BE(crc32(body), body.length + 4);
    return chunk;
  };
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]).toString("base64");
}

const PAPER: Colour = [246, 243, 235];
const INK: Colour = [34, 40, 49];
const GRID: Colour = [220, 214, 200];
const WATER: Colour = [38, 118, 145];
const LABEL: Colour = [176, 58, 46];

/** A tide curve over two days; `overlap` draws the legend over the curve's first high water. */
export function tideChart(overlap: boolean): { base64: string; width: number; height: number } {
  const width = 280;
  const height = 140;
  const level = (x: number) =>
    height / 2 - 42 * Math.sin((x / width) * Math.PI * 7.6) - 8 * Math.sin((x / width) * Math.PI * 15.4 + 1);
  const legend = overlap ? { left: 12, top: 12 } : { left: width - 74, top: height - 26 };
  const base64 = png(width, height, (x, y) => {
    const inLegend = x >= legend.left && x < legend.left + 62 && y >= legend.top && y < legend.top + 18;
    if (inLegend) {
      const edge = x === legend.left || x === legend.left + 61 || y === legend.top || y === legend.top + 17;
      if (edge) return INK;
      if (x > legend.left + 6 && x < legend.left + 16 && Math.abs(y - legend.top - 9) < 2) return LABEL;
      return (x + y) % 5 === 0 && x > legend.left + 20 && y > legend.top + 6 && y < legend.top + 12
        ? INK
        : PAPER;
    }
    if (Math.abs(y - level(x)) < 1.2) return WATER;
    if (y > level(x)) return x % 4 === 0 && y % 4 === 0 ? WATER : PAPER;
    return y % 28 === 0 || x % 40 === 0 ? GRID : PAPER;
  });
  return { base64, width, height };
}
