import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import { errors } from 'undici';

export interface TunnelOptions {
  /** `http://` or `https://`, with credentials if the proxy needs them. */
  readonly proxy: URL;
  readonly address: string;
  readonly port: number;
  readonly timeoutMs: number;
}

/** Opens a connection to an address through an HTTP proxy with CONNECT. The proxy gets the checked address, not the
 *  host name, which could resolve to another one. Rejects when the proxy is unavailable, refuses, or takes longer than
 *  `timeoutMs`. */
export const openTunnel = ({ proxy, address, port, timeoutMs }: TunnelOptions): Promise<Socket> =>
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
