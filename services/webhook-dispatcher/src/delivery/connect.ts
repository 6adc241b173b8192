import { promises as dns } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { isPublicAddress } from '@cpg/runtime';
import { buildConnector } from 'undici';
import { openTunnel } from './tunnel.ts';

/** The endpoint's address is one that we do not dial. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
}

export interface ConnectOptions {
  /** Whether loopback may be dialled, by plain http and with a self-signed certificate too. */
  readonly allowLocal: boolean;
  /** Addresses that may be dialled though they are not public. */
  readonly isAllowed?: (address: string) => boolean;
  /** Goes by this HTTP proxy, but for what is local. */
  readonly proxy?: URL | undefined;
  readonly timeoutMs: number;
  /** Authorities to trust instead of those of Node.js, as PEM. */
  readonly ca?: string;
  /** Addresses of a host name. */
  readonly resolve?: (hostname: string) => Promise<string[]>;
}

/** Connects sockets to public addresses only. The check is made on the addresses that are then dialled, so a name that changes
 *  between two look-ups (DNS rebinding) gains nothing. */
export const guardedConnector = (options: ConnectOptions) => {
  const { allowLocal, isAllowed = () => false, proxy, timeoutMs, ca, resolve = resolveHost } = options;
  const permits = (address: string) =>
    isPublicAddress(address) || isAllowed(address) || (allowLocal && isLoopback(address));
  const permittedOf = async (hostname: string): Promise<string[]> => {
    const addresses = await resolve(hostname);
    const refused = addresses.find((address) => !permits(address));
    if (refused !== undefined) throw new BlockedAddressError(`${hostname} resolves to ${refused}, which is not public`);
    return addresses;
  };
  const lookup: LookupFunction = (hostname, options, done) => {
    const wanted =
      options.family === 4 || options.family === 'IPv4' ? 4 : options.family === 6 || options.family === 'IPv6' ? 6 : 0;
    permittedOf(hostname).then(
      (addresses) => {
        const found = addresses
          .map((address) => ({ address, family: isIP(address) }))
          .filter(({ family }) => family !== 0 && (wanted === 0 || family === wanted));
        const [first] = found;
        if (!first) return done(new Error(`${hostname} has no address`), '', 0);
        return options.all ? done(null, found) : done(null, first.address, first.family);
      },
      (error: Error) => done(error, '', 0),
    );
  };
  const strict = buildConnector({ timeout: timeoutMs, lookup, ...(ca && { ca }) });
  const lenient = buildConnector({ timeout: timeoutMs, lookup, rejectUnauthorized: false });
  const connect: buildConnector.connector = (options, done) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    const local = allowLocal && (isLoopback(host) || isLocalName(host));
    // A literal address is dialled without a look-up.
    if (isIP(host) && !permits(host)) return done(new BlockedAddressError(`${host} is not a public address`), null);
    if (options.protocol !== 'https:' && !local)
      return done(new BlockedAddressError('the endpoint does not use https'), null);
    if (local) return lenient(options, done);
    if (!proxy) return strict(options, done);
    const tunnel = async () => {
      const [address] = isIP(host) ? [host] : await permittedOf(host);
      if (!address) throw new Error(`${host} has no address`);
      return openTunnel({ proxy, address, port: Number(options.port || HTTPS_PORT), timeoutMs });
    };
    tunnel().then(
      (httpSocket) => strict({ ...options, httpSocket }, done),
      (error: Error) => done(error, null),
    );
  };
  return connect;
};

const HTTPS_PORT = 443;

const isLoopback = (address: string): boolean => /^127\.\d+\.\d+\.\d+$/.test(address) || address === '::1';

const isLocalName = (hostname: string): boolean => hostname === 'localhost' || hostname.endsWith('.localhost');

// Not dns.lookup: its few threads are shared by the process, and names that never answer would hold up everybody's.
const resolver = new dns.Resolver({ timeout: 1_500, tries: 2 });

const resolveHost = async (hostname: string): Promise<string[]> => {
  if (isLocalName(hostname)) return ['127.0.0.1', '::1'];
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  throw answers.find((answer) => answer.status === 'rejected')?.reason ?? new Error(`${hostname} has no address`);
};
