import { AppError, nullIfNotFound, type Order, type PageDeposit, type PaymentPageAddresses } from '@cpg/contracts';
import type { CallContext } from '@cpg/platform';
import type { Pool } from '@cpg/platform/postgres';
import { LRUCache } from 'lru-cache';
import type { PaymentsClient } from '../../api/payments/payments-client.ts';
import { type CheckoutOrder, checkoutOrder, transferDepths, unsettledRefunds } from './checkout-queries.ts';
import type { ShownOrder } from './checkout.ts';
import { depositOf, type Depths } from './payer-payments.ts';

export interface FindPageOptions {
  readonly pool: Pool;
  readonly payments: Pick<PaymentsClient, 'pageAddresses'>;
}

/** The content of the page of a reference; null without an order. `known` saves reading the order. */
export type FindPage = (reference: string, context: CallContext, known?: CheckoutOrder) => Promise<ShownOrder | null>;

export const noSuchPage = (): AppError => new AppError('not_found', 'no payment has this reference');

/** Of every reference that this gateway has issued: 26 letters and digits. Others are refused before any lookup. */
const REFERENCE = /^[A-Za-z0-9]{1,64}$/;
const MAX_CACHED = 20_000;
const NO_ORDER = { order_id: '', merchant_id: '' };

/** The order comes from its row, so pages are shown while orders is unavailable. */
export const pageFinder = ({ pool, payments }: FindPageOptions): FindPage => {
  // The addresses of a page never change. A deleted order has no row.
  const cache = new LRUCache<string, PaymentPageAddresses>({ max: MAX_CACHED });

  const shown = async (
    reference: string,
    page: PaymentPageAddresses | null,
    known?: CheckoutOrder,
  ): Promise<ShownOrder | null> => {
    // An unknown reference costs the same queries as one of a deleted order.
    const { merchant_id, order_id } = page ?? NO_ORDER;
    const found = known ?? (await checkoutOrder(pool, merchant_id, order_id));
    if (!page || !found) return null;
    const depths = await depthsOf(pool, found.order, page.deposits);
    // Without payments there is nothing to refund.
    const unsettled = found.order.payments.length === 0 ? [] : await unsettledRefunds(pool, merchant_id, order_id);
    return { reference, ...found, page, depths, unsettledRefunds: unsettled };
  };
  return async (reference, context, known) => {
    if (!REFERENCE.test(reference)) return null;
    const cached = cache.get(reference);
    const found = cached && (await shown(reference, cached, known));
    if (found) return found;
    cache.delete(reference);
    const page = await nullIfNotFound(payments.pageAddresses(reference, context));
    if (page) cache.set(reference, page);
    return shown(reference, page);
  };
};

/** Only of payments that wait for confirmations. */
const depthsOf = async (pool: Pool, { payments }: Order, deposits: readonly PageDeposit[]): Promise<Depths> => {
  const waiting = payments.flatMap((payment) => {
    const deposit = payment.status === 'received' && depositOf(payment, deposits);
    return deposit
      ? [{ ...payment, network: deposit.network, id: payment.provider_id.slice(deposit.chain_id.length + 1) }]
      : [];
  });
  const depths = await transferDepths(pool, waiting);
  return new Map(
    waiting.flatMap(({ network, id, provider_id }) => {
      const depth = depths.find((each) => each.network === network && each.id === id);
      return depth ? [[provider_id, depth] as const] : [];
    }),
  );
};
