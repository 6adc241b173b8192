import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether `text` is an IP address or a CIDR block. */
export const isAddressOrCidr = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
};

/** Returns a function that tells whether an IP address is in `entries`, a list of addresses and CIDR blocks.
 *  An IPv4 address also matches in its IPv4-mapped IPv6 form. */
export const createAddressMatcher = (entries: readonly string[]): ((address: string) => boolean) => {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
};

/** Whether every address of `inner` is in `outer`. Both are IP addresses or CIDR blocks. An IPv4 address in its
 *  IPv4-mapped IPv6 form is not recognized. */
export const isBlockWithin = (inner: string, outer: string): boolean => {
  const [[address, bits], [network, outerBits]] = [blockOf(inner), blockOf(outer)];
  return address.kind() === network.kind() && bits >= outerBits && address.match(network, outerBits);
};

const blockOf = (text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] => {
  const [address = '', bits] = text.split('/');
  const parsed = ipaddr.parse(address);
  return [parsed, bits === undefined ? 8 * parsed.toByteArray().length : Number(bits)];
};

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** The network that a client's address stands for in limits: an IPv4 address itself, or the /64 of an IPv6 address,
 *  because one host can use every address of a /64. An IPv4 address in its IPv6 form counts as IPv4. Other text is
 *  returned as it is. */
export const clientNetwork = (address: string): string => {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
};

const NAT64 = ipaddr.IPv6.parse('64:ff9b::');
const SIX_TO_FOUR = ipaddr.IPv6.parse('2002::');
// The only IPv6 range with public unicast addresses. It excludes `::/96`, which formerly embedded IPv4 addresses.
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');
// Azure's platform endpoint, which returns secrets. It is in a public range.
const CLOUD_METADATA = new Set(['168.63.129.16']);

/** Whether `address` is an IP address of the public Internet. False for loopback, private, link-local (cloud metadata),
 *  shared, reserved, multicast and documentation addresses, and for text that is not an IP address. An IPv4 address
 *  embedded in an IPv6 address (mapped, NAT64 RFC 6052, 6to4 RFC 3056) is checked as IPv4.
 *  Source: the IANA special-purpose address registries, as implemented by `ipaddr.js`. */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast' && !CLOUD_METADATA.has(parsed.toString());
  const v6 = parsed as ipaddr.IPv6;
  const ipv4 = embeddedIpv4(v6);
  return ipv4 ? isPublicAddress(ipv4) : v6.range() === 'unicast' && v6.match(GLOBAL_UNICAST, 3);
};

const WEB_PORTS = [443, 80];
const FIRST_UNPRIVILEGED_PORT = 1_024;

/** Whether a webhook may use a port: a port of the web, one that the operator allows, or one from 1024 up. What listens
 *  below, for example a mail server, must not be made to read what merchants write. */
export const isWebhookPort = (port: number, allowed: readonly number[] = []): boolean =>
  port >= FIRST_UNPRIVILEGED_PORT || WEB_PORTS.includes(port) || allowed.includes(port);

// IPv4 and IPv6 addresses, each with an optional zone or port.
const ADDRESSES = /(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]*:[\da-f]*:[\da-f:.]*)(?:%\w+)?(?::\d+)?/gi;

/** Replaces the addresses in `text` that are not public, with their ports: texts that merchants read must not show the
 *  network of the operator. `known` is an address that the reader named in its URL; it stays. */
export const hideInternalAddresses = (text: string, known?: string): string =>
  text.replaceAll(ADDRESSES, (found) => {
    const readings = [found, found.replace(/:\d+$/, '')].map((reading) => reading.split('%')[0]!);
    if (!readings.some((reading) => ipaddr.isValid(reading))) return found;
    return readings.some((reading) => reading === known || isPublicAddress(reading)) ? found : HIDDEN;
  });

const HIDDEN = '(internal address)';

const embeddedIpv4 = (address: ipaddr.IPv6): string | null => {
  const bytes = address.toByteArray();
  if (address.match(NAT64, 96)) return bytes.slice(12).join('.');
  if (address.match(SIX_TO_FOUR, 16)) return bytes.slice(2, 6).join('.');
  return null;
};
