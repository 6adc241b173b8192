import { evolve, type ExistingPayment, type Payment, UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { paymentReceived } from '../testing/jest-payment-events.ts';
import { paymentCommands, type PaymentCommands, type PaymentHandler } from './commands.ts';

const KNOWN = evolve({ status: 'none' }, paymentReceived()) as ExistingPayment;
const NEWER: ExistingPayment = { ...KNOWN, confirmations: 7 };

/** Finds a payment that the cache has in one state and the event store in a newer one. */
const find = (cached: Payment, options?: Parameters<PaymentCommands['find']>[1]) => {
  let state = cached;
  const handler = { load: async () => ({ state }), evict: () => void (state = NEWER) };
  const { find: found } = paymentCommands({ handler: handler as unknown as PaymentHandler, project: async () => {} });
  return found(KNOWN.paymentId, options);
};

test('a payment is found in the cache, and in the event store if it has to be fresh', async () => {
  expect(await find(KNOWN)).toBe(KNOWN);
  expect(await find(KNOWN, { fresh: false })).toBe(KNOWN);
  expect(await find(KNOWN, { fresh: true })).toBe(NEWER);
});

test('an unclaimed payment is read again, because an operator may have assigned it since', async () =>
  expect(await find({ ...KNOWN, merchantId: UNCLAIMED_MERCHANT })).toBe(NEWER));

test('a payment that was never recorded is not found', () =>
  expect(find({ status: 'none' })).rejects.toMatchObject({ code: 'not_found' }));
