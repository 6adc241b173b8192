import type { Order } from '@cpg/contracts';

/** A URL of the merchant with `order_id` and `status`; undefined unless it is http or https. */
export const returnLink = (url: string, { id, status }: Pick<Order, 'id' | 'status'>): string | undefined => {
  if (!URL.canParse(url)) return undefined;
  const link = new URL(url);
  if (link.protocol !== 'https:' && link.protocol !== 'http:') return undefined;
  const query = link.search.slice(1);
  // Some frameworks read the first of equal names, and some the last one: both are the shop's.
  const again = query.split('&').filter((pair) => ADDED.has([...new URLSearchParams(pair).keys()][0] ?? ''));
  link.search = [...(query ? [query] : []), `order_id=${id}`, `status=${status}`, ...again].join('&');
  return link.href;
};

const ADDED: ReadonlySet<string> = new Set(['order_id', 'status']);
