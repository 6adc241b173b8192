import { createHash } from 'node:crypto';
import type { Checkout } from '@cpg/contracts';
import { newContext } from '@cpg/platform';
import type { OrderPage } from '../state/checkout-queries.ts';
import { checkoutOf } from '../state/checkout.ts';
import type { FindPage } from '../state/find-page.ts';
import type { PageState } from './open-pages.ts';

const HASH_DIGITS = 16;

/** Pages with the same version show the same. */
export const versionOf = (checkout: Checkout): string =>
  createHash('sha256').update(JSON.stringify(checkout)).digest('hex').slice(0, HASH_DIGITS);

/** Loads what the page of a reference shows now. */
export const pageStates =
  ({ find, now }: { find: FindPage; now: () => Date }) =>
  async (reference: string, known?: OrderPage): Promise<PageState | null> => {
    const shown = await find(reference, newContext('service:gateway'), known);
    if (!shown) return null;
    const checkout = checkoutOf(shown, now());
    return {
      orderId: shown.page.order_id,
      revision: shown.revision,
      version: versionOf(checkout),
      waitsForBlocks: checkout.payments.some(({ state }) => state === 'seen'),
    };
  };
