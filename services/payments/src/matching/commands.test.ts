import { PAYMENT_EVENTS } from '@cpg/contracts';
import type { Logger } from '@cpg/platform';
import type { PaymentCommand } from '../payment/command.ts';
import { evolve, type ExistingPayment, type Payment, UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { CONTEXT } from '../testing/jest-fixtures.ts';
import { paymentReceived } from '../testing/jest-payment-events.ts';
import { paymentCommands, type PaymentCommands, type PaymentHandler, withPaymentLog } from './commands.ts';

const KNOWN = evolve({ status: 'none' }, paymentReceived()) as ExistingPayment;
const NEWER: ExistingPayment = { ...KNOWN, confirmations: 7 };

const commandsOf = (handler: object) =>
  paymentCommands({ handler: handler as PaymentHandler, project: async () => {} });

/** Finds a payment that the cache has in one state and the event store in a newer one. */
const find = (cached: Payment, options?: Parameters<PaymentCommands['find']>[1]) => {
  let state = cached;
  const commands = commandsOf({ load: async () => ({ state }), evict: () => void (state = NEWER) });
  return commands.find(KNOWN.paymentId, options);
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

test('an outcome is recorded with all that the order decided', async () => {
  const commands: PaymentCommand[] = [];
  const handle = async (_id: string, command: PaymentCommand) => {
    commands.push(command);
    return { state: KNOWN, revision: 1, events: [] };
  };
  const { recordOutcomes } = commandsOf({ handle });
  const at = '2026-01-31T12:00:00.000Z';
  const about = { payment_id: KNOWN.paymentId, sighting: 2, at };
  const applied = { status: 'applied', applied_minor: '9', unapplied_minor: '1', smallest_payable_minor: '5' } as const;
  await recordOutcomes(
    [
      { ...about, ...applied },
      { ...about, status: 'orphan', orphan_reason: 'late' },
      { payment_id: KNOWN.paymentId, status: 'received' },
    ],
    CONTEXT,
  );
  const decided = { sighting: 2, at: new Date(at) };
  const amounts = { appliedMinor: 9n, unappliedMinor: 1n, smallestPayableMinor: 5n };
  expect(commands).toEqual([
    { type: 'RecordOutcome', outcome: { ...decided, status: 'applied', ...amounts } },
    { type: 'RecordOutcome', outcome: { ...decided, status: 'orphan', orphanReason: 'late' } },
  ]);
});

test('each event of a payment is a line of the log, except confirmations, blocks and addresses', async () => {
  const silent: string[] = [];
  for (const { type } of PAYMENT_EVENTS) {
    const lines: string[] = [];
    const handle = async () => ({ state: KNOWN, revision: 1, events: [{ event: { type } }] });
    const log = { info: (_fields: object, sentence: string) => void lines.push(sentence) };
    const logged = withPaymentLog({ handle } as unknown as PaymentHandler, log as unknown as Logger);
    await logged.handle(KNOWN.paymentId, { type: 'FailPayment', at: new Date(0) }, CONTEXT);
    if (lines.length === 0) silent.push(type);
  }
  expect(silent).toEqual(['PaymentConfirmed', 'PaymentBlockChanged', 'PaymentRefundAddressed']);
});
