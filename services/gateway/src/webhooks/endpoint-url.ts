import { isIP } from 'node:net';
import { AppError, invalidRequest } from '@cpg/core';
import { createHostResolver, isPublicAddress, NO_SUCH_HOST, type ResolveHost } from '@cpg/runtime';
import { hostOf, isLoopback, parseWebUrl } from '../web-url.ts';

const resolveHost = createHostResolver();

export interface EndpointRules {
  readonly allowLocal: boolean;
  /** Private addresses that the operator allows. */
  readonly isAllowed?: (address: string) => boolean;
  readonly resolve?: ResolveHost;
}

/** Throws `invalid_request` for a URL that webhooks must not use: not https, with credentials or a fragment, or with a
 *  host that resolves to a private address. `allowLocal` also allows loopback addresses, http for these, and names that
 *  cannot be resolved (offline machines). The dispatcher checks the addresses again when it connects, because DNS can
 *  change. */
export const checkEndpointUrl = async (
  text: string,
  { allowLocal, isAllowed = () => false, resolve = resolveHost }: EndpointRules,
): Promise<void> => {
  const url = parseWebUrl(text, { path: 'url', allowLocal });
  const addresses = await addressesOf(hostOf(url), resolve, allowLocal);
  const allLocal = addresses.length > 0 && addresses.every(isLoopback);
  if (url.protocol === 'http:' && !allLocal) throw invalidUrl('must be an https:// URL');
  if (allowLocal && allLocal) return;
  const privateAddress = addresses.find((address) => !isPublicAddress(address) && !isAllowed(address));
  if (privateAddress !== undefined) throw invalidUrl('must be publicly reachable: its host has a private address');
};

const addressesOf = async (host: string, resolve: ResolveHost, allowLocal: boolean): Promise<string[]> => {
  if (isIP(host)) return [host];
  // RFC 6761: names under `.invalid` never resolve, but some resolvers return an address.
  if (/(^|\.)invalid$/i.test(host)) throw invalidUrl('must be publicly reachable: its host does not exist');
  try {
    return await resolve(host);
  } catch (cause) {
    if (allowLocal) return [];
    if (NO_SUCH_HOST.has((cause as { code?: string }).code ?? '')) {
      throw invalidUrl('must be publicly reachable: its host does not exist');
    }
    throw new AppError('dependency_unavailable', 'the host of the URL cannot be resolved at the moment: try again', {
      cause,
    });
  }
};

const invalidUrl = (message: string): AppError => invalidRequest([{ path: 'url', message }]);
