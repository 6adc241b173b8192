import { writeFileSync } from 'node:fs';
import { NewPaymentEvent, type Payment } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { type RecordedStream, recordedStream } from '@cpg/event-sourcing/testing/recorded-streams';
import type { Outcome, OrderRefundPart, PaymentCommand, ReceivePayment, RefundAmount } from '../payment/command.ts';
import { paymentStreamOf } from '../payment/identity.ts';
import { paymentDecider } from '../payment/payment.ts';
import { type ExistingPayment, type Payment as State, UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { paymentResource } from '../payment/view.ts';

export type RecordedPayment = RecordedStream<Payment>;

const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, '0')}`;
const atMinute = (minutes: number) => new Date(Date.UTC(2026, 0, 31, 12, minutes));
const block = { height: 7, hash: '00f7' };

const receive = (changes: Partial<ReceivePayment> = {}): Omit<ReceivePayment, 'paymentId'> => ({
  type: 'ReceivePayment',
  merchantId: id('mer', 1),
  orderId: id('ord', 1),
  rail: 'crypto_deposit',
  providerId: 'eip155:1/0x07:0',
  currency: 'USDC',
  decimals: 6,
  asset: 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  assetLabel: 'USDC.e',
  amountMinor: 10_000_000n,
  feeMinor: 100_000n,
  feeSchedule: '2026-01-01',
  confirmed: false,
  txHash: '0x07',
  confirmations: 0,
  seenAt: atMinute(0),
  at: atMinute(1),
  ...changes,
});
const unclaimed = () =>
  receive({ merchantId: UNCLAIMED_MERCHANT, orderId: '0xdead', address: '0xdead', confirmed: true, confirmations: 12 });
const outcome = (decided: Outcome): PaymentCommand => ({ type: 'RecordOutcome', outcome: decided });
const applied = (at: Date, sighting?: number): PaymentCommand =>
  outcome({ status: 'applied', appliedMinor: 9_000_000n, unappliedMinor: 1_000_000n, sighting, at });
const refund = <Amount extends RefundAmount | OrderRefundPart>(n: number, at: Date, amount: Amount) => ({
  type: 'RefundPayment' as const,
  refundId: id('rfd', n),
  ...amount,
  reason: 'returned goods',
  at,
});
const requestRefund = (...of: Parameters<typeof refund<RefundAmount>>): PaymentCommand => ({
  ...refund(...of),
  type: 'RequestRefund',
  network: 'ethereum',
  asset: 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
});
const addressed = { destination: '0x0A', senders: ['0x0B'], afterHeight: 9 };
const claim = { tokenHash: '0d'.repeat(32) };
const transfer = { transferId: '0x0C:0', txHash: '0x0C' };
const decision = { reason: 'ticket 7', by: 'Ana' };

type Scenario = [Omit<ReceivePayment, 'paymentId'>, ...PaymentCommand[]];

/** Payments that together record every event. */
const PAYMENTS: Scenario[] = [
  [
    receive({ rail: 'gateway_pay', providerId: 'tx-1', metadata: { till: 2 } }),
    { type: 'ConfirmPayment', at: atMinute(2) },
    applied(atMinute(3)),
    refund(1, atMinute(4), { amountMinor: 1_500_000n }),
    { ...refund(2, atMinute(5), { what: 'all' }), txHash: '0x09', network: 'base', destination: '0xbeef' },
  ],
  [
    receive(),
    { type: 'ConfirmPayment', confirmations: 12, block, at: atMinute(2) },
    applied(atMinute(3)),
    { type: 'FailPayment', failureReason: 'reorg', at: atMinute(4) },
    { ...receive({ confirmed: true, confirmations: 12, block, at: atMinute(5) }), paymentId: id('pay', 2) },
    outcome({ status: 'orphan', orphanReason: 'late', sighting: 2, at: atMinute(6) }),
    { type: 'FailPayment', failureReason: 'reorg', at: atMinute(7) },
  ],
  [
    receive({ credited: false, confirmations: 1, block }),
    { ...receive({ credited: false, block: { height: 8, hash: '00f8' }, at: atMinute(2) }), paymentId: id('pay', 3) },
  ],
  [
    unclaimed(),
    { type: 'AssignPayment', merchantId: id('mer', 1), orderId: id('ord', 1), ...decision, at: atMinute(2) },
  ],
  [unclaimed(), { type: 'AssignPayment', merchantId: id('mer', 1), ...decision, at: atMinute(2) }],
  [unclaimed(), { type: 'ReturnPayment', refundId: id('rfd', 3), txHash: '0x08', ...decision, at: atMinute(2) }],
  [
    receive(),
    { type: 'ConfirmPayment', at: atMinute(2) },
    applied(atMinute(3)),
    requestRefund(4, atMinute(4), { amountMinor: 1_500_000n }),
    { type: 'CancelRefund', refundId: id('rfd', 4), at: atMinute(5) },
    requestRefund(5, atMinute(6), { what: 'all' }),
    { type: 'AddressRefund', refundId: id('rfd', 5), ...addressed, at: atMinute(7) },
    { type: 'ReportRefund', refundId: id('rfd', 5), ...transfer, isFinal: false, at: atMinute(8) },
    { type: 'ReopenRefund', refundId: id('rfd', 5), transferId: transfer.transferId, at: atMinute(9) },
    { type: 'ReportRefund', refundId: id('rfd', 5), ...transfer, isFinal: true, at: atMinute(10) },
  ],
  [
    receive(),
    { type: 'ConfirmPayment', at: atMinute(2) },
    applied(atMinute(3)),
    requestRefund(6, atMinute(4), { what: 'all' }),
    {
      type: 'IssueRefundClaim',
      refundId: id('rfd', 6),
      ...claim,
      onPage: true,
      expiresAt: atMinute(99),
      at: atMinute(5),
    },
    { type: 'ClaimRefund', refundId: id('rfd', 6), ...claim, ...addressed, endsBy: atMinute(6), at: atMinute(6) },
  ],
  [
    receive(),
    { type: 'ConfirmPayment', at: atMinute(2) },
    applied(atMinute(3)),
    refund(7, atMinute(4), { amountMinor: 2_000_000n, orderRefundId: id('orf', 1) }),
  ],
];

/** The streams that this version records of some payments. They are the same in every run. */
export const recordStreams = (): RecordedPayment[] =>
  PAYMENTS.map(([received, ...later], index) => {
    const paymentId = id('pay', index + 1);
    let state: State = paymentDecider.initial;
    const events = [{ ...received, paymentId }, ...later].flatMap((command) => {
      const decided = paymentDecider.decide(command, state).map((event) => NewPaymentEvent.parse(event));
      state = fold(paymentDecider, state, decided);
      return decided;
    });
    return recordedStream(paymentStreamOf(paymentId), paymentResource(state as ExistingPayment), events);
  });

if (process.argv[1] === import.meta.filename) {
  const [version] = process.argv.slice(2);
  if (version === undefined) throw new Error('Name the version: pnpm --filter @cpg/payments record 0.2.0');
  writeFileSync(`src/testing/recorded/${version}.json`, `${JSON.stringify(recordStreams(), null, 2)}\n`);
}
