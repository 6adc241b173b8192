import { newId } from '@cpg/platform';
import { body, CONTEXT, MERCHANT, type OrdersService } from './jest-orders.ts';
import { capabilities, createOrder, minutesAfterNoon, offerCall, payment, paymentId } from './orders.ts';

type Call = readonly [method: 'POST' | 'PATCH' | 'DELETE', url: string, body: object];

/** A command of the HTTP API, and its effect on one order. */
export interface CallOfOrder {
  /** Brings the order `id` into the state before the command. */
  readonly prepare: (service: OrdersService, id: string) => Promise<unknown>;
  readonly call: (id: string) => Call;
  /** The answer to the command and to its repeats. */
  readonly status: number;
  /** The events that it records, in order. */
  readonly types: readonly string[];
  /** Number of appends, of which each may fail. */
  readonly appends?: number;
  /** Whether the timer does the same once the command has begun. */
  readonly isTimed?: boolean;
}

const owner = { merchant_id: MERCHANT };
const AMOUNT = 10_000_000n;

const create = (id: string, changes: object = {}): Call => [
  'POST',
  '/orders',
  { ...owner, order_id: id, order: body({ items: [TEA], ...changes }) },
];
const TEA = { name: 'tea', quantity: 1, unit_price: '10', currency: 'USDC' };
const created =
  (changes: object = {}) =>
  (service: OrdersService, id: string) =>
    service.call(...create(id, changes));
const offer = (id: string, amountMinor: bigint, confirmed = true): Call => [
  'POST',
  `/orders/${id}/payments`,
  offerCall(payment(1, amountMinor, { seenAt: new Date().toISOString() }), confirmed),
];
const offered =
  (amountMinor: bigint, confirmed = true, changes: object = {}) =>
  async (service: OrdersService, id: string) => {
    await created(changes)(service, id);
    await service.call(...offer(id, amountMinor, confirmed));
  };
const afterwards =
  (path: string, changes: object): ((id: string) => Call) =>
  (id) => ['POST', `/orders/${id}/payments/${paymentId(1)}${path}`, changes];
const offerOf = (amountMinor: bigint) => offerCall(payment(1, amountMinor), true);
const AT = new Date().toISOString();

export const CALLS: Record<string, CallOfOrder> = {
  create: { prepare: async () => {}, call: (id) => create(id), status: 201, types: ['OrderCreated'] },
  update: {
    prepare: created(),
    call: (id) => ['PATCH', `/orders/${id}`, { ...owner, changes: { metadata: { table: 'B7' } } }],
    status: 200,
    types: ['OrderUpdated'],
  },
  cancel: {
    prepare: created(),
    call: (id) => ['POST', `/orders/${id}/cancel`, owner],
    status: 200,
    types: ['OrderCanceled'],
  },
  capture: {
    prepare: offered(1n, true, { capabilities: { ...capabilities, partial_payments: false } }),
    call: (id) => ['POST', `/orders/${id}/capture`, owner],
    status: 200,
    types: ['OrderPaymentsApplied'],
  },
  accept: {
    prepare: offered(1n),
    call: (id) => ['POST', `/orders/${id}/accept`, { ...owner, reason: 'close enough' }],
    status: 200,
    types: ['OrderAccepted', 'OrderPaid'],
  },
  'advance the clock to the deadline': {
    prepare: created(),
    call: (id) => ['POST', `/orders/${id}/time`, { minutes: 61 }],
    status: 200,
    types: ['OrderTimeAdvanced', 'OrderExpired'],
    appends: 2,
    isTimed: true,
  },
  'offer a payment': {
    prepare: created(),
    call: (id) => offer(id, AMOUNT),
    status: 200,
    types: ['OrderPaymentReceived', 'OrderPaymentsApplied', 'OrderPaid'],
  },
  'confirm a payment': {
    prepare: offered(AMOUNT, false),
    call: (id) => offer(id, AMOUNT),
    status: 200,
    types: ['OrderPaymentConfirmed', 'OrderPaymentsApplied', 'OrderPaid'],
  },
  'fail a payment': {
    prepare: offered(AMOUNT),
    call: afterwards('/failure', { ...offerOf(AMOUNT), failure_reason: 'reorg', at: AT }),
    status: 200,
    types: ['OrderPaymentFailed'],
  },
  'refund a payment': {
    prepare: offered(AMOUNT),
    call: afterwards('/refunds', { refund_id: newId('refund'), refunded_total_minor: String(AMOUNT), at: AT }),
    status: 200,
    types: ['OrderPaymentRefunded'],
  },
};

/** What the timer does with an order that is due. */
export const TIMER: Record<string, { readonly order: Partial<ReturnType<typeof createOrder>>; readonly type: string }> =
  {
    expire: { order: { at: minutesAfterNoon(0) }, type: 'OrderExpired' },
    renew: {
      order: { at: minutesAfterNoon(0), capabilities: { ...capabilities, expiration_auto_renewal: true } },
      type: 'OrderRenewed',
    },
    'request deposit instructions': { order: { at: new Date(), instructions: undefined }, type: 'OrderInstructed' },
  };

/** Creates an order for which the timer has something to do. */
export const createDue = (service: OrdersService, id: string, order: Partial<ReturnType<typeof createOrder>>) =>
  service.other.run(id, createOrder({ ...order, orderId: id, merchantId: MERCHANT }), CONTEXT);

export const deletionOf = (id: string): Call => ['DELETE', `/orders/${id}`, owner];
