import type { Facts } from '../../lib/timeline.ts';

/** An amount with its currency, as the page formats it. */
type Money = (amount: string | undefined, currency: string | undefined) => string;
type Sentence = (facts: Facts, money: Money, time: (at: string | undefined) => string) => string;

const because = (reason: string | undefined): string => (reason === undefined ? '' : `: ${reason}`);

const sentences: Record<string, Sentence> = {
  OrderCreated: (f, money, time) =>
    `The order was created over ${money(f.amount, f.currency)}, to be paid until ${time(f.until)}.`,
  OrderInstructed: () => 'The payer got addresses to pay to.',
  OrderPaymentReceived: (f, money) =>
    `A payment of ${money(f.amount, f.currency)} was seen${f.isConfirmed ? ' and is final' : ', it waits for confirmations'}.`,
  OrderPaymentConfirmed: (f, money) =>
    `The payment of ${money(f.amount, f.currency)} is final${f.confirmations === undefined ? '' : `, after ${f.confirmations} confirmations`}.`,
  OrderPaymentBlockChanged: (f, money) =>
    `The payment of ${money(f.amount, f.currency)} is in another block of its chain now.`,
  OrderPaymentsApplied: (f, money) =>
    `${money(f.amount, f.currency)} was applied to the order${
      f.surplus === undefined || /^[0.]*$/.test(f.surplus) ? '' : `; ${money(f.surplus, f.currency)} is surplus`
    }${f.shortfall === undefined ? '' : `; ${money(f.shortfall, f.currency)} is missing`}.`,
  OrderPaymentsOrphaned: (f, money) => `A payment of ${money(f.amount, f.currency)} did not count${because(f.reason)}.`,
  OrderPaymentFailed: (f, money) => `The payment of ${money(f.amount, f.currency)} failed${because(f.reason)}.`,
  OrderPaymentReinstated: (f, money) => `The payment of ${money(f.amount, f.currency)} was seen again.`,
  OrderPaymentRefunded: (f, money) => `${money(f.amount, f.currency)} of a payment is refunded.`,
  OrderRefunded: (f, money) => `A refund of ${money(f.amount, f.currency)} was recorded${because(f.reason)}.`,
  OrderPaid: () => 'The order is paid.',
  OrderAccepted: (f, money) =>
    `The order was accepted as paid${because(f.reason)}${f.shortfall === undefined ? '' : ` (${money(f.shortfall, f.currency)} missing)`}.`,
  OrderUpdated: () => 'The order was changed.',
  OrderRenewed: (f, money, time) =>
    `The order got new rates: ${money(f.amount, f.currency)}, to be paid until ${time(f.until)}.`,
  OrderTimeAdvanced: (f) => `The clock of the order was moved on by ${f.minutes ?? '?'} minutes.`,
  OrderExpired: () => 'The order expired.',
  OrderCanceled: () => 'The order was canceled.',
  OrderDeleted: (f) => `The order was deleted${because(f.reason)}.`,
  PaymentReceived: (f, money) => `A payment of ${money(f.amount, f.currency)} was seen.`,
  PaymentConfirmed: (f) =>
    `The payment is final${f.confirmations === undefined ? '' : `, after ${f.confirmations} confirmations`}.`,
  PaymentBlockChanged: () => 'The payment is in another block of its chain now.',
  PaymentApplied: (f, money) => `The payment counts with ${money(f.amount, f.currency)}.`,
  PaymentOrphaned: (f) => `The payment counts for no order${because(f.reason)}.`,
  PaymentFailed: (f) => `The payment failed${because(f.reason)}.`,
  PaymentReinstated: () => 'The payment was seen again.',
  PaymentRefunded: (f, money) => `${money(f.amount, f.currency)} of the payment is refunded.`,
  PaymentAssigned: () => 'The operator assigned the payment.',
  PaymentRefundRequested: (f, money) =>
    `A refund of ${money(f.amount, f.currency)} waits for its transfer${f.network === undefined ? '' : ` on ${f.network}`}.`,
  PaymentRefundAddressed: () => 'The refund got an address to go to.',
  PaymentRefundSent: () => 'The transfer of the refund was seen.',
  PaymentRefundReopened: () => 'The transfer of the refund left its chain: the refund waits again.',
  PaymentRefundCanceled: () => 'The refund was canceled.',
  PaymentRefundClaimIssued: (f, _money, time) =>
    `A link for the payer to enter an address was made, valid until ${time(f.until)}.`,
  PaymentRefundClaimed: () => 'The payer entered an address for the refund.',
};

export const history = {
  title: 'What happened',
  sentences,
  showAll: 'Every event',
  by: 'by',
  actors: {
    key: (name: string) => `API key ${name}`,
    user: (name: string) => `user ${name}`,
    service: (name: string) => (name === 'payments' || name === 'orders' ? 'the gateway' : name),
    operator: (name: string) => `operator ${name}`,
    provider: (name: string) => `provider ${name}`,
    debug: () => 'the sandbox',
  } as Record<string, (name: string) => string>,
  more: 'The history is longer: these are its first entries.',
  asOf: 'As of',
  now: 'Now',
  past: (time: string) => `You see the order as it was on ${time}.`,
  backToNow: 'Back to now',
  slider: 'Move through the history of the order',
};
