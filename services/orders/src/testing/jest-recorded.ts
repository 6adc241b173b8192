import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DepositInstruction,
  fromMinor,
  type Order,
  type OrderStatus,
  type Payment,
  toMinor,
} from '@cpg/contracts';

export interface RecordedStream {
  readonly stream: string;
  /** The order as the API showed it after the last event. Null for a deletion stream, and for a deleted order of
   *  d59de14. */
  readonly resource: Order | null;
  readonly events: {
    readonly id: string;
    readonly revision: number;
    readonly type: string;
    readonly data: Record<string, unknown> & { readonly at: string };
    readonly metadata: { readonly hash: string; readonly previousHash: string };
  }[];
}

const FOLDER = join(import.meta.dirname, 'recorded');

/** Streams that earlier versions recorded, by the commit of the version. The files never change; a version that records
 *  another shape adds a file. */
export const recordedVersions = (): [commit: string, streams: RecordedStream[]][] =>
  readdirSync(FOLDER).map((file) => [
    file.replace('.json', ''),
    (JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as RecordedStream[]).map((recorded) => ({
      ...recorded,
      resource: recorded.resource && asShownNow(recorded.resource),
    })),
  ]);

/** Earlier versions showed payment URIs of orders that take no more payments, asked for all that remained, and did not
 *  show what is to be given back. */
const asShownNow = (order: Order): Order => {
  const asking = order.deposit_instructions.map((instruction) => withoutPending(instruction, order));
  const payments = order.payments.map(withEveryAmount);
  const dueBack = payments.reduce((sum, payment) => sum + dueBackOf(payment, order), 0n);
  return {
    ...order,
    payments,
    ...(dueBack > 0n && { due_back_amount: fromMinor(dueBack, order.currency) }),
    deposit_instructions: CLOSED.has(order.status) ? asking.map(withoutUri) : asking,
  };
};

const dueBackOf = (payment: Payment, { currency }: Order): bigint => {
  const { status, paid_amount, refunded_amount = '0', unapplied_amount = '0' } = payment;
  if (payment.currency !== currency) return 0n;
  const minor = (amount: string) => toMinor(amount, currency);
  return status === 'orphan' ? minor(paid_amount) - minor(refunded_amount) : minor(unapplied_amount);
};

const withoutPending = (instruction: DepositInstruction, order: Order): DepositInstruction => {
  const { currency, payments } = order;
  const pending = payments.filter((payment) => payment.status === 'received' && payment.currency === currency);
  const missing = pending.reduce(
    (left, { paid_amount }) => left - toMinor(paid_amount, currency),
    toMinor(order.remaining_amount, currency),
  );
  if (pending.length === 0) return instruction;
  const amount = fromMinor(missing > 0n ? missing : 0n, currency);
  if (instruction.rail === 'gateway_pay') return { ...instruction, amount };
  // The recorded orders have only such money on its way to a chain that is all they need.
  expect(missing <= 0n).toBe(true);
  const { payment_uri: _, ...rest } = instruction;
  return { ...rest, amount, amount_units: '0' };
};

const CLOSED = new Set<OrderStatus>(['paid', 'canceled', 'expired', 'partially_paid_expired']);

const withoutUri = (instruction: DepositInstruction): DepositInstruction => {
  const { payment_uri: _, qr_content: __, ...rest } = { payment_uri: '', qr_content: '', ...instruction };
  return rest;
};

/** Earlier versions left out amounts that are zero. */
const withEveryAmount = (payment: Payment): Payment => {
  const zero = fromMinor(0n, payment.currency);
  return { applied_amount: zero, unapplied_amount: zero, refunded_amount: zero, ...payment };
};
