import { promises as dns } from 'node:dns';

/** Resolves a host name to all its addresses. */
export type ResolveHost = (host: string) => Promise<string[]>;

export interface HostResolverOptions {
  /** All queries for a host end within this time. */
  readonly timeoutMs?: number;
  /** DNS servers, such as `127.0.0.1:53`. Default: those of the machine. */
  readonly servers?: readonly string[];
}

const TIMEOUT_MS = 2_000;

/** Codes of resolver errors that mean that the name has no address. Other errors mean that the resolver failed. */
export const NO_SUCH_HOST: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** Whether a name means this machine without a look-up (RFC 6761). */
export const isLocalName = (host: string): boolean => /(^|\.)localhost\.?$/i.test(host);

/** Creates a resolver that asks DNS servers through c-ares. `dns.lookup` uses one of the four threads that the whole
 *  process shares, so that a few slow names stop all look-ups and file reads. Like every DNS client it does not read
 *  `/etc/hosts`; `localhost` is answered without a query. Rejects with a code of c-ares. */
export const createHostResolver =
  ({ timeoutMs = TIMEOUT_MS, servers }: HostResolverOptions = {}): ResolveHost =>
  async (host) => {
    if (isLocalName(host)) return ['127.0.0.1', '::1'];
    // One for each host, because `cancel` ends all queries of a resolver.
    const resolver = new dns.Resolver({ timeout: Math.ceil(timeoutMs / 2), tries: 2 });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeoutMs);
    try {
      const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (addresses.length > 0) return addresses;
      const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
      throw errors.find((error) => !hasNoSuchHostCode(error)) ?? errors[0] ?? noAddress(host);
    } finally {
      clearTimeout(timer);
    }
  };

const hasNoSuchHostCode = (error: Error): boolean => NO_SUCH_HOST.has((error as { code?: string }).code ?? '');

const noAddress = (host: string): Error => Object.assign(new Error(`${host} has no address`), { code: 'ENODATA' });
