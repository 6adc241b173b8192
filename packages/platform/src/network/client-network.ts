import ipaddr from 'ipaddr.js';

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
