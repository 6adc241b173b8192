import { type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { AppError } from '@cpg/core';
import { createAddressMatcher, invalidRequest, isPublicAddress } from '@cpg/runtime';

/** All addresses of a host name, as `dns.lookup` gives them; rejects with its error. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

export const resolveHost: Resolve = (host) => lookup(host, { all: true });

const isLoopback = createAddressMatcher(['127.0.0.0/8', '::1']);

// Answers of the resolver that mean that the name has no address, not that it could not be asked.
const NO_SUCH_HOST = new Set(['ENOTFOUND', 'ENODATA']);

export interface EndpointRules {
  readonly allowLocal: boolean;
  /** Addresses that may be sent to though they are not public. */
  readonly isAllowed?: (address: string) => boolean;
  readonly resolve?: Resolve;
}

/** Refuses a URL that webhooks may not be sent to: not https, with credentials or a fragment, or on a host that resolves to an
 *  address that is not public. `allowLocal` lets loopback through, also by http, and names that a machine without a network
 *  cannot resolve. The addresses are checked again when they are dialled, so what changes later is caught there. */
export const checkEndpointUrl = async (
  text: string,
  { allowLocal, isAllowed = () => false, resolve = resolveHost }: EndpointRules,
): Promise<void> => {
  const url = readUrl(text);
  if (url.protocol !== 'https:' && !(allowLocal && url.protocol === 'http:')) throw refused('must be an https:// URL');
  if (url.username || url.password) throw refused('must not carry credentials');
  if (text.includes('#')) throw refused('must not have a fragment');

  const addresses = await addressesOf(hostOf(url), resolve, allowLocal);
  const allLocal = addresses.length > 0 && addresses.every(isLoopback);
  if (url.protocol === 'http:' && !allLocal) throw refused('must be an https:// URL');
  if (allowLocal && allLocal) return;
  const closed = addresses.find((address) => !isPublicAddress(address) && !isAllowed(address));
  if (closed !== undefined) throw refused('must be publicly reachable: its host has an address that is not public');
};

const readUrl = (text: string): URL => {
  // The parser would drop white space silently, and two readers of the text might then see two hosts.
  if (/[\s\p{Cc}\\]/u.test(text) || !/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw refused('must be an absolute https:// URL');
  }
  return new URL(text);
};

const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

const addressesOf = async (host: string, resolve: Resolve, allowLocal: boolean): Promise<string[]> => {
  if (isIP(host)) return [host];
  // RFC 6761: names under `.invalid` never resolve, whatever the resolver says.
  if (/(^|\.)invalid$/i.test(host)) throw refused('must be publicly reachable: its host does not exist');
  try {
    return (await resolve(host)).map(({ address }) => address);
  } catch (cause) {
    if (allowLocal) return [];
    if (NO_SUCH_HOST.has((cause as { code?: string }).code ?? '')) {
      throw refused('must be publicly reachable: its host does not exist');
    }
    throw new AppError('dependency_unavailable', 'the host of the URL cannot be resolved right now: try again', {
      cause,
    });
  }
};

const refused = (message: string): AppError => invalidRequest([{ path: 'url', message }]);
