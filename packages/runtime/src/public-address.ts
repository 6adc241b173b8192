import ipaddr from 'ipaddr.js';

const NAT64 = ipaddr.IPv6.parse('64:ff9b::');
const SIX_TO_FOUR = ipaddr.IPv6.parse('2002::');
// All of IPv6 that is given out; `::/96` once carried IPv4 addresses.
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');
// Public by its number, and yet the inside of a cloud: Azure's platform, which hands out secrets.
const INSIDE = new Set(['168.63.129.16']);

/** Whether an IP address belongs to a host on the public Internet: not loopback, private, link-local (cloud metadata), shared, reserved,
 *  multicast or documentation, in any of the forms that carry an IPv4 address inside an IPv6 one (mapped, NAT64 RFC 6052, 6to4 RFC 3056).
 *  False for what is not an address. Source: the IANA special-purpose address registries, as `ipaddr.js` has them. */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast' && !INSIDE.has(parsed.toString());
  const v6 = parsed as ipaddr.IPv6;
  const inner = embeddedIpv4(v6);
  return inner ? isPublicAddress(inner) : v6.range() === 'unicast' && v6.match(GLOBAL_UNICAST, 3);
};

const embeddedIpv4 = (address: ipaddr.IPv6): string | null => {
  const bytes = address.toByteArray();
  if (address.match(NAT64, 96)) return bytes.slice(12).join('.');
  if (address.match(SIX_TO_FOUR, 16)) return bytes.slice(2, 6).join('.');
  return null;
};
