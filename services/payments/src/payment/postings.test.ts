import type { PaymentEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  CHANGED_AT_ISO,
  ORDER_ID,
  paymentFailed,
  paymentOrphaned,
  paymentReceived,
  paymentReceivedUnconfirmed,
  paymentRefunded,
  REFUND_ID,
} from '../testing/jest-payment-events.ts';
import { paymentDecider } from './payment.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from './state.ts';

const after = (...events: PaymentEvent[]) => fold(paymentDecider, paymentDecider.initial, events) as ExistingPayment;
/** The lines of each entry, as `account amount`. */
const ledgerOf = ({ postings }: ExistingPayment): string[][] =>
  Array.from({ length: postings.at(-1)?.entry ?? 0 }, (_, index) =>
    postings.filter(({ entry }) => entry === index + 1).map(({ account, amountMinor }) => `${account} ${amountMinor}`),
  );

const applied = (appliedMinor: bigint): PaymentEvent => ({
  type: 'PaymentApplied',
  data: {
    ...{ orderId: ORDER_ID, at: CHANGED_AT_ISO },
    ...{ appliedMinor: String(appliedMinor), unappliedMinor: String(10_000n - appliedMinor) },
  },
});
const confirmed: PaymentEvent = {
  type: 'PaymentConfirmed',
  data: { seenAt: CHANGED_AT_ISO, at: CHANGED_AT_ISO },
};
const seenAgain: PaymentEvent = {
  type: 'PaymentReinstated',
  data: { sighting: 2, seenAt: CHANGED_AT_ISO, confirmed: true, at: CHANGED_AT_ISO },
};

// 10,000 minor units, 100 of them are the fee.
test.each<[string, PaymentEvent[], string[][]]>([
  ['a payment comes from its payer', [paymentReceived()], [['payer -10000', 'received 10000']]],
  [
    'an event that moves no money adds no entry',
    [paymentReceivedUnconfirmed, confirmed],
    [['payer -10000', 'received 10000']],
  ],
  [
    'applied money owes the fee',
    [paymentReceived(), applied(10_000n)],
    [
      ['payer -10000', 'received 10000'],
      ['received -10000', 'net 9900', 'fee 100'],
    ],
  ],
  [
    'a surplus is due back',
    [paymentReceived(), applied(4_000n)],
    [
      ['payer -10000', 'received 10000'],
      ['received -10000', 'net 3900', 'fee 100', 'surplus 6000'],
    ],
  ],
  [
    'a refund takes the surplus first, and leaves the fee',
    [paymentReceived(), applied(4_000n), paymentRefunded('7000'), paymentRefunded('3000', '10000')],
    [
      ['payer -10000', 'received 10000'],
      ['received -10000', 'net 3900', 'fee 100', 'surplus 6000'],
      ['net -1000', 'surplus -6000', 'refunded 7000'],
      ['net -3000', 'refunded 3000'],
    ],
  ],
  [
    'an orphan owes no fee',
    [paymentReceived(), applied(10_000n), paymentOrphaned('canceled'), paymentRefunded('10000')],
    [
      ['payer -10000', 'received 10000'],
      ['received -10000', 'net 9900', 'fee 100'],
      ['net -9900', 'fee -100', 'orphan 10000'],
      ['orphan -10000', 'refunded 10000'],
    ],
  ],
  [
    'money that its chain takes back owes no fee, and may come again',
    [paymentReceived(), applied(10_000n), paymentFailed, seenAgain],
    [
      ['payer -10000', 'received 10000'],
      ['received -10000', 'net 9900', 'fee 100'],
      ['net -9900', 'fee -100', 'returned 10000'],
      ['received 10000', 'returned -10000'],
    ],
  ],
])('%s', (_, events, ledger) => expect(ledgerOf(after(...events))).toEqual(ledger));

test('a line says what moved the money, and when', () => {
  const { merchantId, orderId, postings } = after(paymentReceived(), applied(10_000n), paymentRefunded('10000'));
  expect(postings.at(-1)).toEqual({
    ...{ entry: 3, line: 2, account: 'refunded', amountMinor: 10_000n, merchantId, orderId },
    ...{ event: 'payment.refunded', refundId: REFUND_ID, at: CHANGED_AT_ISO },
  });
  expect(postings[0]).toMatchObject({ entry: 1, line: 1, event: 'payment.received', refundId: undefined });
});

const assigned: PaymentEvent = {
  type: 'PaymentAssigned',
  data: {
    ...{ merchantId: 'mer_01J0000000000000000000000P', orderId: 'ord_01J0000000000000000000000A' },
    ...{ reason: 'r', by: 'ana', sighting: 2, seenAt: CHANGED_AT_ISO, confirmedAt: CHANGED_AT_ISO, at: CHANGED_AT_ISO },
  },
};
const unclaimed: PaymentEvent[] = [
  paymentReceived({ merchantId: UNCLAIMED_MERCHANT, orderId: 'bc1q' }),
  paymentOrphaned('unknown_address'),
];

test('an assignment closes the accounts of the one and opens those of the other', () => {
  const { postings } = after(...unclaimed, assigned);
  const lines = postings
    .slice(-4)
    .map(({ entry, account, amountMinor, ...owner }) => [
      entry,
      `${account} ${amountMinor}`,
      owner.merchantId,
      owner.orderId,
    ]);
  expect(lines).toEqual([
    [3, 'payer 10000', UNCLAIMED_MERCHANT, 'bc1q'],
    [3, 'orphan -10000', UNCLAIMED_MERCHANT, 'bc1q'],
    [3, 'payer -10000', 'mer_01J0000000000000000000000P', 'ord_01J0000000000000000000000A'],
    [3, 'received 10000', 'mer_01J0000000000000000000000P', 'ord_01J0000000000000000000000A'],
  ]);
});
