import type { Order } from '@cpg/contracts';

/** A URL of the merchant with `order_id` and `status`; undefined unless it is http or https. */
export const returnLink = (url: string, { id, status }: Pick<Order, 'id' | 'status'>): string | undefined => {
  if (!URL.canParse(url)) return undefined;
  const link = new URL(url);
  if (link.protocol !== 'https:' && link.protocol !== 'http:') return undefined;
  const kept = link.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !OWN_PARAMETERS.has([...new URLSearchParams(pair).keys()][0] ?? ''));
  link.search = [...kept, `order_id=${id}`, `status=${status}`].join('&');
  return link.href;
};

const OWN_PARAMETERS: ReadonlySet<string> = new Set(['order_id', 'status']);
