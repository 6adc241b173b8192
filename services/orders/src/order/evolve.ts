import { laterOf, type OrderEvent, type Rates } from '@cpg/contracts';
import { fold, ignoreUnknownEvent } from '@cpg/event-sourcing/decider';
import {
  withApplied,
  withBlockChanged,
  withConfirmed,
  withFailed,
  withOrphaned,
  withReceived,
  withRefunded,
  withReinstated,
  withTimeAdvanced,
} from './payment-changes.ts';
import { type ExistingOrder, exists, inStatus, type Order } from './state.ts';

type EventData<T extends OrderEvent['type']> = Extract<OrderEvent, { type: T }>['data'];

/** Returns the order after one recorded event. Business rules are not checked again. */
export const evolve = (order: Order, event: OrderEvent): Order => {
  if (event.type === 'OrderCreated') return created(event.data);
  if (!exists(order)) return order;
  const { at } = event.data;
  const updated = { ...order, updatedAt: laterOf(order.updatedAt, at) };
  switch (event.type) {
    case 'OrderInstructed':
      return {
        ...updated,
        status: 'awaiting_payment',
        statusReason: event.data.reason,
        instructions: event.data.instructions,
        assignedAt: assignedAt(event.data),
      };
    case 'OrderPaymentReceived':
      return withReceived(updated, event.data);
    case 'OrderPaymentConfirmed':
      return withConfirmed(updated, event.data);
    case 'OrderPaymentBlockChanged':
      return withBlockChanged(updated, event.data);
    case 'OrderPaymentsApplied':
      return inStatus(withApplied(updated, event.data), event.data);
    case 'OrderPaymentsOrphaned':
      return withOrphaned(updated, event.data.paymentIds, event.data.orphanReason, at);
    case 'OrderPaymentFailed':
      return inStatus(withFailed(updated, event.data), event.data);
    case 'OrderPaymentReinstated':
      return withReinstated(updated, event.data);
    case 'OrderPaymentRefunded':
      return inStatus(withRefunded(updated, event.data), event.data);
    case 'OrderAccepted':
      return inStatus({ ...updated, acceptedShortfallMinor: BigInt(event.data.shortfallMinor) }, event.data);
    case 'OrderRefunded':
      return withOrderRefund(updated, event.data);
    case 'OrderPaid':
      return inStatus(updated, { ...event.data, status: 'paid' });
    case 'OrderUpdated':
      return changed(updated, event.data);
    case 'OrderRenewed':
      return renewed(updated, event.data);
    case 'OrderTimeAdvanced':
      return timeAdvanced(updated, event.data);
    case 'OrderExpired':
      return inStatus(expired(updated, event.data), event.data);
    case 'OrderCanceled':
      return inStatus(withOrphaned(updated, event.data.orphanedPaymentIds, 'canceled', at), event.data);
    case 'OrderDeleted':
      return { status: 'deleted', lastState: order };
    default:
      return ignoreUnknownEvent(event, order);
  }
};

/** Returns `events` and then the events that `decideNext` returns for the order after `events`. */
export const followedBy = (
  order: ExistingOrder,
  events: OrderEvent[],
  decideNext: (after: ExistingOrder) => OrderEvent[],
): OrderEvent[] => {
  const after = fold({ evolve }, order as Order, events);
  return exists(after) ? [...events, ...decideNext(after)] : events;
};

/** When the addresses were assigned; unknown if the clock was in doubt. */
const assignedAt = ({ clockDoubted, at }: { clockDoubted?: true | undefined; at: string }): string | undefined =>
  clockDoubted ? undefined : at;

const created = ({
  status: _,
  reason: statusReason,
  at,
  totalMinor,
  toleranceBps = 0,
  ratesExpireAt,
  instructions,
  clockDoubted,
  ...data
}: EventData<'OrderCreated'>): Order => ({
  ...data,
  ...(instructions ? { status: 'awaiting_payment', instructions } : { status: 'initialized', instructions: [] }),
  statusReason,
  totalMinor: BigInt(totalMinor),
  toleranceBps,
  acceptedShortfallMinor: 0n,
  ratesExpireAt: ratesExpireAt ?? data.expiresAt,
  pricedMinor: BigInt(totalMinor),
  pricedWhenApplied: {},
  refundedWhilePaid: {},
  countsBeside: {},
  refunds: [],
  assignedAt: instructions && assignedAt({ clockDoubted, at }),
  payments: [],
  advances: [],
  renewals: 0,
  changes: 0,
  createdAt: at,
  updatedAt: at,
});

const withOrderRefund = (
  order: ExistingOrder,
  { amountMinor, parts, ...data }: EventData<'OrderRefunded'>,
): ExistingOrder => {
  const inMinor = parts.map((part) => ({ ...part, amountMinor: BigInt(part.amountMinor) }));
  return { ...order, refunds: [...order.refunds, { ...data, amountMinor: BigInt(amountMinor), parts: inMinor }] };
};

const changed = (
  order: ExistingOrder,
  { metadata, items, rates, totalMinor, expirationMinutes, expiresAt, ratesExpireAt }: EventData<'OrderUpdated'>,
): ExistingOrder => ({
  ...order,
  changes: order.changes + 1,
  ...(metadata && { metadata }),
  ...(items && { items }),
  ...(totalMinor !== undefined && { totalMinor: BigInt(totalMinor), pricedMinor: BigInt(totalMinor) }),
  ...(expirationMinutes !== undefined && { expirationMinutes }),
  ...(expiresAt && { expiresAt, ratesExpireAt: expiresAt }),
  ...(ratesExpireAt && { ratesExpireAt, rates: ratesUntil(rates ?? order.rates, ratesExpireAt) }),
});

/** The rates as they are shown when they are locked until `expiresAt`. */
export const ratesUntil = (rates: Rates, expiresAt: string): Rates =>
  Object.fromEntries(Object.entries(rates).map(([currency, rate]) => [currency, { ...rate, expires_at: expiresAt }]));

const timeAdvanced = (order: ExistingOrder, data: EventData<'OrderTimeAdvanced'>): ExistingOrder => {
  const { expiresAt, ratesExpireAt } = data;
  return {
    ...withTimeAdvanced(order, data),
    ratesExpireAt: ratesExpireAt ?? expiresAt,
    ...(ratesExpireAt && { rates: ratesUntil(order.rates, ratesExpireAt) }),
  };
};

const renewed = (
  order: ExistingOrder,
  { rates, totalMinor, pricedMinor = totalMinor, expiresAt, ratesExpireAt, renewal }: EventData<'OrderRenewed'>,
): ExistingOrder => ({
  ...order,
  rates,
  totalMinor: BigInt(totalMinor),
  pricedMinor: BigInt(pricedMinor),
  expiresAt,
  ratesExpireAt: ratesExpireAt ?? expiresAt,
  renewals: renewal,
});

const expired = (
  order: ExistingOrder,
  { orphanedPaymentIds, orphanReasons, at }: EventData<'OrderExpired'>,
): ExistingOrder =>
  orphanedPaymentIds.reduce((after, id) => withOrphaned(after, [id], orphanReasons?.[id] ?? 'late', at), order);
