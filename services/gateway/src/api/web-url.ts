import { isIP } from 'node:net';
import { invalidRequest } from '@cpg/contracts';
import { createAddressMatcher } from '@cpg/platform';

export interface WebUrlRules {
  /** The field of the request, for the refusal. */
  readonly path: string;
  /** Whether `http` is allowed for a sandbox on this machine. */
  readonly allowLocal: boolean;
}

/** Parses an absolute https URL without credentials and fragment, or throws `invalid_request`.
 *  `allowLocal` also accepts http: the caller must check that it leads to this machine. */
export const parseWebUrl = (text: string, { path, allowLocal }: WebUrlRules): URL => {
  const refuse = (message: string) => invalidRequest([{ path, message }]);
  // URL parsers silently drop white space, so two parsers could see different hosts.
  if (/[\s\p{Cc}\\]/u.test(text) || !/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw refuse('must be an absolute https:// URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && !allowLocal) throw refuse('must be an https:// URL');
  if (url.username || url.password) throw refuse('must not carry credentials');
  if (text.includes('#')) throw refuse('must not have a fragment');
  return url;
};

/** Checks the form alone: the payer's browser opens this URL, and the gateway never does. */
export const checkBrowserUrl = (text: string, rules: WebUrlRules): void => {
  const url = parseWebUrl(text, rules);
  if (url.protocol === 'http:' && !namesThisMachine(hostOf(url)))
    throw invalidRequest([{ path: rules.path, message: 'must be an https:// URL' }]);
};

/** The host without the brackets of an IPv6 address and without the dot of the root. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

export const isLoopback = createAddressMatcher(['127.0.0.0/8', '::1']);

/** RFC 6761: names under `localhost` are this machine. */
const namesThisMachine = (host: string): boolean => (isIP(host) ? isLoopback(host) : /(^|\.)localhost$/i.test(host));
