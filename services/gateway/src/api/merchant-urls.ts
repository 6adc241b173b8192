import { isIP } from 'node:net';
import { AppError, invalidRequest } from '@cpg/contracts';
import {
  createAddressMatcher,
  createHostResolver,
  isPublicAddress,
  isWebhookPort,
  NO_SUCH_HOST,
  type ResolveHost,
} from '@cpg/platform';

export interface WebUrlRules {
  /** The field of the request, for the refusal. */
  readonly path: string;
  /** Whether `http` is allowed for a sandbox on this machine. */
  readonly allowLocal: boolean;
}

/** Parses an absolute https URL without credentials and fragment, or throws `invalid_request`.
 *  `allowLocal` also accepts http: the caller must check that it leads to this machine. */
const parseWebUrl = (text: string, { path, allowLocal }: WebUrlRules): URL => {
  const refuse = (message: string) => invalidRequest([{ path, message }]);
  // URL parsers silently drop white space, so two parsers could see different hosts.
  if (/[\s\p{Cc}\\]/u.test(text) || !/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw refuse(`must be an absolute ${kindOf(allowLocal)} URL`);
  const url = new URL(text);
  if (url.protocol !== 'https:' && !allowLocal) throw refuse('must be an https:// URL');
  if (url.username || url.password) throw refuse('must not carry credentials');
  if (text.includes('#')) throw refuse('must not have a fragment');
  return url;
};

const kindOf = (allowLocal: boolean): string => (allowLocal ? 'https:// (on this machine also http://)' : 'https://');

/** Checks the form alone: the payer's browser opens this URL, and the gateway never does. */
export const checkBrowserUrl = (text: string, rules: WebUrlRules): void => {
  const url = parseWebUrl(text, rules);
  if (url.protocol === 'http:' && !namesThisMachine(hostOf(url)))
    throw invalidRequest([{ path: rules.path, message: 'must be an https:// URL, unless its host is this machine' }]);
};

/** The host without the brackets of an IPv6 address and without the dot of the root. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

const isLoopback = createAddressMatcher(['127.0.0.0/8', '::1']);

/** RFC 6761: names under `localhost` are this machine. */
const namesThisMachine = (host: string): boolean => (isIP(host) ? isLoopback(host) : /(^|\.)localhost$/i.test(host));

const resolveHost = createHostResolver();

export interface EndpointRules {
  readonly allowLocal: boolean;
  /** Private addresses that the operator allows. */
  readonly isAllowed?: (address: string) => boolean;
  /** Ports below 1024 that the operator allows. */
  readonly allowedPorts?: readonly number[];
  readonly resolve?: ResolveHost;
}

/** Throws `invalid_request` for a URL that webhooks must not use: not https, or with credentials, a fragment or a port
 *  of a system service; and `host_not_public`, which can change without another URL, for a host that does not exist or
 *  has a private address. `allowLocal` also allows loopback addresses, http and any port for these, and names that
 *  cannot be resolved (offline machines). The dispatcher checks the addresses again when it connects, because DNS can
 *  change. */
export const checkEndpointUrl = async (
  text: string,
  { allowLocal, isAllowed = () => false, allowedPorts = [], resolve = resolveHost }: EndpointRules,
): Promise<void> => {
  const url = parseWebUrl(text, { path: 'url', allowLocal });
  const host = hostOf(url);
  const addresses = await addressesOf(host, resolve, allowLocal);
  const allLocal = addresses.length > 0 && addresses.every(isLoopback);
  if (url.protocol === 'http:' && !allLocal)
    throw invalidUrl('must be an https:// URL, unless its host is this machine');
  if (allowLocal && allLocal) return;
  if (url.port !== '' && !isWebhookPort(Number(url.port), allowedPorts))
    throw invalidUrl('must use port 443 or 80, or a port from 1024 up');
  if (addresses.every((address) => isPublicAddress(address) || isAllowed(address))) return;
  if (isIP(host)) throw invalidUrl('must be publicly reachable: its host is a private address');
  throw notPublic(
    'DNS has a private address for the host of the URL: let it have public ones only, then repeat the request',
  );
};

const addressesOf = async (host: string, resolve: ResolveHost, allowLocal: boolean): Promise<string[]> => {
  if (isIP(host)) return [host];
  // RFC 6761: names under `.invalid` never resolve, but some resolvers return an address.
  if (/(^|\.)invalid$/i.test(host))
    throw notPublic('the host of the URL does not exist: names under .invalid never do');
  try {
    return await resolve(host);
  } catch (cause) {
    if (allowLocal) return [];
    if (NO_SUCH_HOST.has((cause as { code?: string }).code ?? '')) {
      throw notPublic('DNS has no address for the host of the URL: add its record, then repeat the request');
    }
    throw new AppError('dependency_unavailable', 'the host of the URL cannot be resolved at the moment: try again', {
      cause,
    });
  }
};

const notPublic = (message: string): AppError =>
  new AppError('host_not_public', message, { details: [{ path: 'url', message }] });
const invalidUrl = (message: string): AppError => invalidRequest([{ path: 'url', message }]);
