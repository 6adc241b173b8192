import fc from 'fast-check';
import type { CallFate } from './jest-unreliable-calls.ts';

/** One step in the life of an order and its payments. `index` selects a message in flight. */
export type Step =
  | { do: 'register'; n: number; confirmed: boolean; height?: number | undefined; seenMinutesAgo?: number }
  | { do: 'confirm'; n: number; height?: number | undefined }
  | { do: 'fail'; n: number }
  | { do: 'refund'; n: number; of: { amount: string } | { what?: 'surplus' | 'all' } }
  | { do: 'refund order'; amount: string }
  | { do: 'capture' | 'cancel' | 'delete' | 'watch' | 'crash' }
  | { do: 'advance'; minutes: number }
  | { do: 'wait'; minutes: number }
  | { do: 'reprice'; rate: string }
  | { do: 'deliver'; index: number; again: boolean };

// Few payments, so that each goes through many steps.
const n = fc.constantFrom(1, 1, 2, 2, 2, 3, 4, 5, 6);
const height = fc.constantFrom(undefined, undefined, 1, 2);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      n,
      confirmed: fc.boolean(),
      height,
      seenMinutesAgo: fc.constantFrom(0, 0, 61, -1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('confirm' as const), n, height }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const), n }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      n,
      of: fc.constantFrom(
        {},
        { what: 'all' },
        { what: 'all' },
        { amount: '1' },
        { amount: '3.5' },
        { what: 'surplus' },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refund order' as const),
      amount: fc.constantFrom('1', '4', '6', '9.5', '10'),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('capture', 'cancel', 'delete', 'watch', 'crash') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), minutes: fc.constantFrom(1, 61, 1441) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.constantFrom(1, 61, 1441) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reprice' as const), rate: fc.constantFrom('0.5', '1', '2') }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('deliver' as const), index: fc.nat(100), again: fc.boolean() }),
  },
);

export const fate = fc.constantFrom<CallFate>('delivered', 'delivered', 'request lost', 'response lost');

/** Capabilities of an order, what may be missing of it, the steps, and the fates of the calls during each step. */
export const history = fc.record({
  allow: fc.record({
    can_cancel: fc.constant(true),
    can_update: fc.constant(true),
    can_overpay: fc.boolean(),
    partial_payments: fc.boolean(),
    express_checkout: fc.constant(false),
    expiration_auto_renewal: fc.boolean(),
  }),
  tolerancePercent: fc.constantFrom(undefined, undefined, 5),
  /** Some rests of the payments are below the larger one. */
  smallestPayableMinor: fc.constantFrom(undefined, '2', '4000001'),
  steps: fc.array(fc.record({ step, fates: fc.array(fate, { maxLength: 3, size: 'max' }) }), {
    minLength: 3,
    maxLength: 25,
    size: 'max',
  }),
  relayIsBehind: fc.boolean(),
  /** The order in which the messages still in flight are delivered at the end. */
  lastDeliveries: fc.infiniteStream(fc.nat(100)),
});

type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

export const ALLOW: History['allow'] = {
  can_cancel: true,
  can_update: true,
  can_overpay: false,
  partial_payments: false,
  express_checkout: false,
  expiration_auto_renewal: false,
};
const EXACT = { tolerancePercent: undefined, smallestPayableMinor: undefined };
const deliveredInTurn = () => fc.stream(Array<number>(100).fill(0).values());

/** The order learns only after its deletion that the money of a failed payment is there again. */
export const moneyReturnsBeforeADeletion = (): History => ({
  allow: ALLOW,
  ...EXACT,
  steps: [
    { step: { do: 'register', n: 3, confirmed: false }, fates: [] },
    { step: { do: 'fail', n: 3 }, fates: [] },
    { step: { do: 'register', n: 3, confirmed: true }, fates: ['delivered', 'request lost'] },
    { step: { do: 'delete' }, fates: [] },
  ],
  relayIsBehind: false,
  lastDeliveries: deliveredInTurn(),
});

/** The money of a failed payment returns and fails again before the order learns of its return. */
export const moneyReturnsAndFailsUnseen = (): History => ({
  allow: ALLOW,
  ...EXACT,
  steps: [
    { step: { do: 'register', n: 2, confirmed: false }, fates: [] },
    { step: { do: 'confirm', n: 2 }, fates: [] },
    { step: { do: 'fail', n: 2 }, fates: [] },
    { step: { do: 'register', n: 2, confirmed: false }, fates: ['request lost'] },
    { step: { do: 'fail', n: 2 }, fates: [] },
  ],
  relayIsBehind: false,
  lastDeliveries: deliveredInTurn(),
});

/** The payment does not learn what its order decided last before all of it is refunded. */
export const decisionIsLostBeforeARefund = (decision: 'cancel' | 'capture'): History => ({
  allow: { ...ALLOW, partial_payments: decision === 'cancel' },
  ...EXACT,
  steps: [
    // Too little for the order: a part of it, or an orphan once the order has expired.
    { step: { do: 'register', n: 2, confirmed: true }, fates: [] },
    ...(decision === 'capture' ? [{ step: { do: 'advance' as const, minutes: 61 }, fates: [] }] : []),
    { step: { do: decision }, fates: ['request lost'] },
    { step: { do: 'refund', n: 2, of: { what: 'all' } }, fates: [] },
  ],
  relayIsBehind: false,
  lastDeliveries: deliveredInTurn(),
});

/** A refund of the order takes all that a payment applied. The surplus is refunded after that. */
export const surplusAfterAnOrderRefund = (): History => ({
  allow: { ...ALLOW, partial_payments: true },
  ...EXACT,
  steps: [
    { step: { do: 'register', n: 3, confirmed: true }, fates: [] },
    { step: { do: 'register', n: 1, confirmed: true }, fates: [] },
    { step: { do: 'refund order', amount: '9.5' }, fates: [] },
    { step: { do: 'refund', n: 1, of: {} }, fates: [] },
  ],
  relayIsBehind: false,
  lastDeliveries: deliveredInTurn(),
});
