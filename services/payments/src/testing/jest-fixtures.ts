import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@cpg/platform';
import type { Decide } from './jest-orders-stub-views.ts';

/** The tokens of callers in tests. */
export const TOKENS = {
  gateway: ['token-of-the-gateway-in-the-tests'],
  orders: ['token-of-orders-in-the-tests-of-payments'],
  payments: ['token-of-payments-in-tests-of-orders'],
  'webhook-dispatcher': ['token-of-dispatchers-in-the-tests'],
  admin: ['token-of-admin-commands-in-the-tests'],
} as const;

/** The token of a caller that may call a route of payments. */
export const tokenFor = (url: string): string => {
  const byOrders =
    /^\/(instructions|refundable|stock|availability|outcomes|chains|providers\/waiting)|^\/orders\/[^/]+\/(unsettled-)?payment/;
  if (byOrders.test(url)) return TOKENS.orders[0];
  if (url.startsWith('/merchants')) return TOKENS.admin[0];
  return (url.includes('/messages') ? TOKENS['webhook-dispatcher'] : TOKENS.gateway)[0];
};
export const MERCHANT = newId('merchant');
/** When the stub of orders decides: later than the clock of any test. */
export const DECIDED_AT = '2126-01-31T12:00:00.000Z';
export const CONTEXT = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };

export const applied: Decide = ({ paymentId, amountMinor }) => ({
  status: 'applied',
  payment_id: paymentId,
  applied_minor: amountMinor,
  unapplied_minor: '0',
  at: DECIDED_AT,
});
export const held: Decide = ({ paymentId }) => ({ status: 'received', payment_id: paymentId });
export const appliedOnceConfirmed: Decide = (payment, confirmed) => (confirmed ? applied : held)(payment, confirmed);

let reports = 0;
/** A rail's report of 10 USDC. Each call reports another payment. */
export const report = (orderId: string, changes: object = {}) => {
  reports += 1;
  return {
    order_id: orderId,
    rail: 'gateway_pay' as const,
    provider_id: `tx-${reports}`,
    amount: '10',
    currency: 'USDC' as const,
    confirmed: true,
    ...changes,
  };
};

/** Polls until `look` returns a value. */
export const until = async <T>(
  look: () => Promise<T | undefined | null | false> | T | undefined | null | false,
): Promise<T> => {
  for (;;) {
    const found = await look();
    if (found) return found;
    await sleep(20);
  }
};
