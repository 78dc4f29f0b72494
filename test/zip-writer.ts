import { crc32, deflateRawSync, zstdCompressSync } from "node:zlib";

export type ZipMethod = "stored" | "deflate" | "zstd";

interface ZipOptions {
  method?: ZipMethod;
  /** Writes sizes and offsets where archives above 4 GB have them. */
  large?: boolean;
}

const METHODS: Record<ZipMethod, { code: number; compress(bytes: Buffer): Buffer }> = {
  stored: { code: 0, compress: (bytes) => bytes },
  deflate: { code: 8, compress: (bytes) => deflateRawSync(bytes) },
  // In several frames, as streaming writers produce them.
  zstd: {
    code: 93,
    compress: (bytes) =>
      Buffer.concat([zstdCompressSync(bytes.subarray(0, 100)), zstdCompressSync(bytes.subarray(100))]),
  },
};

/** A ZIP archive of texts. Entries with the same name are all included. */
export function zipOf(
  entries: readonly (readonly [name: string, text: string])[],
  { method = "deflate", large = false }: ZipOptions = {},
): Buffer {
  const { code, compress } = METHODS[method];
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of entries) {
    const bytes = Buffer.from(text);
    const data = compress(bytes);
    const name_bytes = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(code, 8);
    local.writeUInt16LE(name_bytes.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(code, 10);
    // 5 October 2026, 08:00.
    central.writeUInt16LE(8 << 11, 12);
    central.writeUInt16LE((46 << 9) | (10 << 5) | 5, 14);
    central.writeUInt32LE(crc32(bytes), 16);
    central.writeUInt32LE(large ? 0xffffffff : data.length, 20);
    central.writeUInt32LE(large ? 0xffffffff : bytes.length, 24);
    central.writeUInt16LE(name_bytes.length, 28);
    central.writeUInt32LE(large ? 0xffffffff : offset, 42);
    const extra = Buffer.alloc(large ? 28 : 0);
    if (large) {
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(24, 2);
      for (const [at, value] of [bytes.length, data.length, offset].entries())
        extra.writeBigUInt64LE(BigInt(value), 4 + at * 8);
    }
    central.writeUInt16LE(extra.length, 30);
    files.push(local, name_bytes, data);
    directory.push(central, name_bytes, extra);
    offset += local.length + name_bytes.length + data.length;
  }
  const listing = Buffer.concat(directory);
  return Buffer.concat([...files, listing, ...endOf(entries.length, offset, listing.length, large)]);
}

function endOf(count: number, offset: number, length: number, large: boolean): Buffer[] {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(large ? 0xffff : count, 10);
  end.writeUInt32LE(large ? 0xffffffff : length, 12);
  end.writeUInt32LE(large ? 0xffffffff : offset, 16);
  if (!large) return [end];
  const end_64 = Buffer.alloc(56);
  end_64.writeUInt32LE(0x06064b50, 0);
  end_64.writeBigUInt64LE(BigInt(count), 32);
  end_64.writeBigUInt64LE(BigInt(length), 40);
  end_64.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + length), 8);
  return [end_64, locator, end];
}
