import { BlockList, isIP, isIPv4 } from "node:net";

/**
 * IP ranges outside the public internet: this machine, its networks, and special-purpose ranges (IANA's registries for IPv4 and
 * IPv6). For IPv6, only 2000::/3 is public.
 */
const SPECIAL = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  SPECIAL.addSubnet(network, bits, "ipv4");
for (const [network, bits] of [
  // Teredo, ORCHID and benchmarking; documentation; 6to4, whose addresses can contain any IPv4 address; documentation.
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  SPECIAL.addSubnet(network, bits, "ipv6");
const GLOBAL = new BlockList();
GLOBAL.addSubnet("2000::", 3, "ipv6");

/** Whether an IP address is on the public internet. `false` for text that is not an IP address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !SPECIAL.check(address, "ipv4");
  if (isIP(address) !== 6 || address.includes("%")) return false;
  return GLOBAL.check(address, "ipv6") && !SPECIAL.check(address, "ipv6");
}
