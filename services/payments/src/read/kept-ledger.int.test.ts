import { LedgerKept, ledgerStreamOf, type PaymentEvent } from '@cpg/contracts';
import { readStream } from '@cpg/event-sourcing';
import { fold } from '@cpg/event-sourcing/decider';
import { newId } from '@cpg/platform';
import { paymentDecider } from '../payment/payment.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { CHANGED_AT_ISO, ORDER_ID, paymentOrphaned, paymentReceived } from '../testing/jest-payment-events.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { ledgerKeeper } from './kept-ledger.ts';
import { projectKeptLedgers } from './payment-rows.ts';

let payments: PaymentsService;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.stop());

const OWNER = 'mer_01J0000000000000000000000P';
const assigned: PaymentEvent = {
  type: 'PaymentAssigned',
  data: {
    ...{ merchantId: OWNER, orderId: ORDER_ID, reason: 'r', by: 'ana', sighting: 2 },
    ...{ seenAt: CHANGED_AT_ISO, confirmedAt: CHANGED_AT_ISO, at: CHANGED_AT_ISO },
  },
};
const applied: PaymentEvent = {
  type: 'PaymentApplied',
  data: { orderId: ORDER_ID, appliedMinor: '10000', unappliedMinor: '0', at: CHANGED_AT_ISO },
};

const paymentAfter = (...events: PaymentEvent[]) => {
  const address = { merchantId: UNCLAIMED_MERCHANT, orderId: 'bc1q', address: 'bc1q', txHash: 'f00d' };
  const first = [paymentReceived({ ...address, paymentId: newId('payment') }), paymentOrphaned('unknown_address')];
  return fold(paymentDecider, paymentDecider.initial, [...first, assigned, ...events]) as ExistingPayment;
};
const keep = (payment: ExistingPayment) =>
  ledgerKeeper({ client: payments.client, now: () => new Date(CHANGED_AT_ISO) })(payment);
const keptOf = async ({ paymentId }: ExistingPayment) =>
  (await readStream(payments.client, ledgerStreamOf(paymentId), LedgerKept))!.map(({ event }) => event.data);

test('a ledger is kept once, with nothing of the time before it had an owner', async () => {
  const payment = paymentAfter(applied);
  for (const _ of ['once', 'twice']) await keep(payment);
  const [kept, ...others] = await keptOf(payment);
  expect(others).toEqual([]);
  expect(kept!.lines.map(({ account, amountMinor, merchantId }) => [account, amountMinor, merchantId])).toEqual([
    ['payer', '-10000', OWNER],
    ['received', '10000', OWNER],
    ['received', '-10000', OWNER],
    ['net', '9900', OWNER],
    ['fee', '100', OWNER],
  ]);
  expect(JSON.stringify(kept)).not.toMatch(/bc1q|f00d/);
});

test('lines that are added before the deletion are kept too', async () => {
  const payment = paymentAfter();
  await keep(payment);
  const later = fold(paymentDecider, payment, [applied]) as ExistingPayment;
  await keep(later);
  expect((await keptOf(payment)).map(({ lines }) => lines.length)).toEqual([2, 5]);
  await projectKeptLedgers(payments.pool, await keptOf(payment));
  const { rows } = await payments.pool.query<{ amount: string; tx_hash: string | null }>(
    'select amount, tx_hash from payments.postings where payment_id = $1 order by id',
    [payment.paymentId],
  );
  expect(rows.map(({ amount, tx_hash }) => [amount, tx_hash])).toEqual(
    ['-0.00010000', '0.00010000', '-0.00010000', '0.00009900', '0.00000100'].map((amount) => [amount, null]),
  );
});
