import type { WayToPay } from '@cpg/contracts';

/** The choices in a link of the page. The page keeps it in its address: it sets no cookies. */
export interface PageChoice {
  /** A language, or anything else that a client sends. */
  readonly lang?: string | undefined;
  /** A network, or `summary`. */
  readonly way?: string | undefined;
  /** Present after a button of the sandbox: the payer has seen the page before. The script removes it. */
  readonly watched?: '1' | undefined;
}

export const SUMMARY = 'summary';

/** A link to the page with these choices. */
export const pageLink = (reference: string, choice: PageChoice): string =>
  `/pay/${encodeURIComponent(reference)}${choiceLink(choice)}`;

/** The path of a claim link with this token. */
const claimPath = (token: string): string => `/pay/refunds/${token}`;

/** The path of a claim link that the payment page shows, by the hash of its token. */
export const pageClaimPath = (reference: string, hash: string): string =>
  `/pay/${encodeURIComponent(reference)}/refunds/${hash}`;

/** The parameters of the routes of pages. */
export interface PageParams {
  readonly reference?: string;
  /** Of a claim link. */
  readonly token?: string;
  /** The hash of the token of a claim link on the payment page. */
  readonly claim?: string;
}

/** The path of the page that a request is about; undefined if it is about none. */
export const pagePathOf = ({ reference, token, claim }: PageParams): string | undefined => {
  if (token !== undefined) return claimPath(encodeURIComponent(token));
  if (reference === undefined) return undefined;
  return claim === undefined
    ? `/pay/${encodeURIComponent(reference)}`
    : pageClaimPath(reference, encodeURIComponent(claim));
};

/** A link to the shown page with these choices. Empty if there are none. */
export const choiceLink = ({ lang, way, watched }: PageChoice): string => {
  const query = new URLSearchParams({
    ...(lang && { lang }),
    ...(way && { way }),
    ...(watched && { watched }),
  }).toString();
  return query && `?${query}`;
};

/** The path of the style sheet with an accent like `#0a7d5c`. */
export const accentPath = (color: string): string => `/pay/accents/${color.slice(1)}.css`;

const PAGE_PATH = /^\/pay(?=[/?]|$)/i;
const MAX_PATH_LENGTH = 512;
const NO_PAGE = '/pay/-/-';

/** Mails, chats and payers add characters to links and change their case. Each path that begins like that of a page
 *  becomes one that the router takes to the page, which answers people in their language. */
export const repairPagePath = (url: string): string => {
  if (!PAGE_PATH.test(url)) return url;
  const path = url.split('?')[0]!;
  if (path.length <= MAX_PATH_LENGTH && isDecodable(path)) return url.replace(PAGE_PATH, '/pay');
  return `${NO_PAGE}${url.slice(path.length)}`;
};

const isDecodable = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
};

/** The chosen way, else the first one of an express checkout, else none. */
export const chosenWay = (
  { ways, rules }: { readonly ways: readonly WayToPay[]; readonly rules: { readonly express: boolean } },
  way: string | undefined,
): WayToPay | null =>
  ways.find(({ network }) => network === way) ?? (way !== SUMMARY && rules.express ? (ways[0] ?? null) : null);

/** The choices in a request. A query parameter that is given twice counts as not given. */
export const choiceOf = (query: unknown): PageChoice => {
  const { lang, way, watched } = query as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return { lang: text(lang), way: text(way), ...(watched === '1' && { watched }) };
};
