import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { createHostResolver, isLocalName, isPublicAddress, isWebhookPort, type ResolveHost } from '@cpg/platform';
import { buildConnector, errors } from 'undici';

/** The endpoint's address or port is not allowed. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
}

export interface ConnectOptions {
  /** Allows loopback addresses, with any port, plain http and self-signed certificates. */
  readonly allowLocal: boolean;
  /** Non-public addresses that are allowed. */
  readonly isAllowed?: (address: string) => boolean;
  /** Ports below 1024 that are allowed, beside 443 and 80. */
  readonly allowedPorts?: readonly number[];
  /** The HTTP proxy for all but local connections. */
  readonly proxy?: URL | undefined;
  readonly timeoutMs: number;
  /** Certificate authorities to trust instead of those of Node.js, as PEM. */
  readonly ca?: string | undefined;
  /** Looks up the addresses of a host name. */
  readonly resolve?: ResolveHost;
}

/** Connects to public addresses only. Checks the very addresses it then connects to, which defeats DNS rebinding: a
 *  name that resolves to another address the second time. */
export const guardedConnector = (options: ConnectOptions) => {
  const { allowLocal, isAllowed = () => false, allowedPorts, proxy, timeoutMs, ca, resolve = resolveHost } = options;
  const isPermitted = (address: string) =>
    isPublicAddress(address) || isAllowed(address) || (allowLocal && isLoopback(address));
  const permittedAddressesOf = async (hostname: string): Promise<string[]> => {
    const addresses = await resolve(hostname);
    // Merchants read this text: it must not show them which internal addresses exist.
    if (!addresses.every(isPermitted)) throw new BlockedAddressError(`the address of ${hostname} is not public`);
    return addresses;
  };
  const lookup: LookupFunction = (hostname, options, done) => {
    const wanted =
      options.family === 4 || options.family === 'IPv4' ? 4 : options.family === 6 || options.family === 'IPv6' ? 6 : 0;
    permittedAddressesOf(hostname).then(
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
    // A literal address is connected to without a lookup.
    if (isIP(host) && !isPermitted(host)) return done(new BlockedAddressError(`${host} is not a public address`), null);
    if (options.protocol !== 'https:' && !local)
      return done(new BlockedAddressError('the endpoint does not use https'), null);
    if (local) return lenient(options, done);
    const port = Number(options.port || HTTPS_PORT);
    if (!isWebhookPort(port, allowedPorts))
      return done(new BlockedAddressError(`port ${port} is not allowed for webhooks`), null);
    if (!proxy) return strict(options, done);
    const tunnel = async () => {
      const [address] = isIP(host) ? [host] : await permittedAddressesOf(host);
      if (!address) throw new Error(`${host} has no address`);
      return openTunnel({ proxy, address, port, timeoutMs });
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

const resolveHost = createHostResolver();

interface TunnelOptions {
  /** `http://` or `https://`, with credentials if the proxy needs them. */
  readonly proxy: URL;
  readonly address: string;
  readonly port: number;
  readonly timeoutMs: number;
}

/** Opens a connection to an address through an HTTP proxy with CONNECT. The proxy gets the checked address, not the
 *  host name, which could resolve to another one. Rejects when the proxy is unavailable, refuses, or takes longer than
 *  `timeoutMs`. */
const openTunnel = ({ proxy, address, port, timeoutMs }: TunnelOptions): Promise<Socket> =>
  new Promise((done, fail) => {
    const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
    const connect = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
      method: 'CONNECT',
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port,
      path: authority,
      headers: { host: authority, ...authorizationOf(proxy) },
      agent: false,
    });
    const timer = setTimeout(
      () => connect.destroy(new errors.ConnectTimeoutError(`the proxy did not connect within ${timeoutMs} ms`)),
      timeoutMs,
    );
    connect.once('error', (error) => {
      clearTimeout(timer);
      fail(
        error instanceof errors.ConnectTimeoutError
          ? error
          : // Merchants read this text: it must not name the proxy.
            new Error(`the proxy could not be reached: ${(error as NodeJS.ErrnoException).code ?? 'it failed'}`, {
              cause: error,
            }),
      );
    });
    connect.once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        return done(socket);
      }
      socket.destroy();
      fail(new Error(`the proxy answered ${statusCode}`));
    });
    connect.end();
  });

const authorizationOf = ({ username, password }: URL): Record<string, string> => {
  if (!username) return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
};
