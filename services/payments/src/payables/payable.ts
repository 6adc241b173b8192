import {
  type AssignedInstruction,
  DELETION_STREAM_PREFIX,
  deletionStreamOf,
  DerivationIndexesReserved,
  ORDER_STREAM_PREFIX,
  OrderCreated,
  OrderDeletionEvent,
  OrderDeletionRecorded,
  OrderInstructed,
  OrderUpdated,
  orderStreamOf,
  type RecordedOrderReference,
  type RecordedPayable,
} from '@cpg/contracts';
import { firstEvent, parseRecorded, rawEventsOf, UnreadableEventError } from '@cpg/event-sourcing';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { z } from 'zod';

/** Where an order may be paid: at an address, or by a reference of a provider and its addresses. */
export interface Payable {
  readonly orderId: string;
  readonly merchantId: string;
  readonly instruction: AssignedInstruction | RecordedPayable;
  /** Null once the order is deleted. */
  readonly assigned: { readonly currency: string; readonly at: string } | null;
}

/** Prefixes of the streams whose events show payables. */
export const ORDER_PREFIXES = [ORDER_STREAM_PREFIX, DELETION_STREAM_PREFIX] as const;

/** The parts of order events that show payables. */
const ShowingEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal(OrderCreated.type),
    data: OrderCreated.recorded.pick({ orderId: true, merchantId: true, instructions: true, at: true }),
  }),
  z.object({
    type: z.literal(OrderInstructed.type),
    data: OrderInstructed.recorded.pick({ instructions: true, at: true }),
  }),
  z.object({ type: z.literal(OrderDeletionRecorded.type), data: OrderDeletionRecorded.recorded }),
]);

const SHOWING: ReadonlySet<string> = new Set([OrderCreated.type, OrderInstructed.type, OrderDeletionRecorded.type]);

/** The change of payables by a log entry; null for none. */
export type PayableChange =
  | { readonly kind: 'assigned'; readonly payables: readonly Payable[] }
  | { readonly kind: 'deleted'; readonly payables: readonly Payable[] }
  | {
      readonly kind: 'reserved';
      readonly account: string;
      readonly indexes: readonly number[];
      /** No order gets these indexes. */
      readonly skipped: boolean;
      /** The next index of the account. */
      readonly next: number;
      readonly revision: number;
    };

/** Throws UnreadableEventError. `merchantOf` finds the merchant of an order. */
export const payableChangeIn = async (
  entry: AllStreamResolvedEvent,
  merchantOf: (orderId: string) => Promise<string | null>,
): Promise<PayableChange | null> => {
  const { type, streamId } = entry.event!;
  if (type === 'DerivationIndexesReserved') return reservedIn(entry);
  if (!SHOWING.has(type)) return null;
  const { event } = parseRecorded(ShowingEvent, entry);
  switch (event.type) {
    case 'OrderCreated': {
      const { instructions, at, ...order } = event.data;
      return { kind: 'assigned', payables: instructions ? assigned(order, instructions, at) : [] };
    }
    case 'OrderInstructed': {
      const orderId = streamId.slice(ORDER_PREFIXES[0].length);
      const merchantId = await merchantOf(orderId);
      if (merchantId === null) return null;
      const { instructions, at } = event.data;
      return { kind: 'assigned', payables: assigned({ orderId, merchantId }, instructions, at) };
    }
    case 'OrderDeletionRecorded': {
      const { orderId, merchantId, payables } = event.data;
      const kept = payables.map((instruction) => ({ orderId, merchantId, instruction, assigned: null }));
      return { kind: 'deleted', payables: kept };
    }
  }
};

/** Whether an event that cannot be read may show an address, a reference or an account: every version records them as
 *  text. */
const mayShow = ({ event }: AllStreamResolvedEvent, text: string): boolean =>
  !event!.isJson || JSON.stringify(event!.data).includes(text);

/** As `payableChangeIn`, but null for an event that cannot be read and does not show `text`. */
export const payableChangeAbout = async (
  text: string,
  ...[entry, merchantOf]: Parameters<typeof payableChangeIn>
): Promise<PayableChange | null> => {
  try {
    return await payableChangeIn(entry, merchantOf);
  } catch (error) {
    if (error instanceof UnreadableEventError && !mayShow(entry, text)) return null;
    throw error;
  }
};

const reservedIn = (entry: AllStreamResolvedEvent): PayableChange => {
  const { event, revision } = parseRecorded(DerivationIndexesReserved, entry);
  const { account, first, count, skipped = false } = event.data;
  return { kind: 'reserved', account, indexes: indexesOf(event.data), skipped, next: first + count, revision };
};

/** The addresses that an event of an order shows, also if this version cannot read the event otherwise. */
export const addressesShownBy = ({ event }: AllStreamResolvedEvent): string[] =>
  SHOWING.has(event!.type) ? addressesIn(event!.data) : [];

const addressesIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]: [string, unknown]) =>
    key === 'address' && typeof part === 'string' ? [part] : addressesIn(part),
  );
};

const assigned = (
  { orderId, merchantId }: { readonly orderId: string; readonly merchantId: string },
  instructions: readonly AssignedInstruction[],
  at: string,
): Payable[] =>
  instructions.map((instruction) => {
    const { currency } = instruction;
    return { orderId, merchantId, instruction, assigned: { currency, at } };
  });

export const RECEIVING_BRANCH = 0;

export const receivingPath = (index: number): string => `${RECEIVING_BRANCH}/${index}`;

/** The index of a receiving path; null for a path of another form. */
export const receivingIndex = (path: string): number | null => {
  const [branch, index, ...rest] = path.split('/');
  const isReceiving = branch === String(RECEIVING_BRANCH) && /^\d+$/.test(index ?? '') && rest.length === 0;
  return isReceiving ? Number(index) : null;
};

export interface Reservation {
  readonly first: number;
  readonly count: number;
  readonly again: readonly number[];
  /** Nobody gets these indexes: money arrived there before they were reserved. */
  readonly skipped?: true;
}

/** The indexes of a reservation, lowest first. */
export const indexesOf = ({ first, count, again }: Omit<Reservation, 'skipped'>): number[] => [
  ...again,
  ...Array.from({ length: count }, (_, n) => first + n),
];

const AnyOrderEvent = z.object({ type: z.string(), data: z.unknown() });

/** Whether the event store has the order, and it is not deleted. */
export const isOrderRecorded = async (client: EventStoreDBClient, orderId: string): Promise<boolean> => {
  const first = await firstEvent(client, orderStreamOf(orderId), AnyOrderEvent);
  return first !== null && first !== 'deleted';
};

const Owned = z.object({
  type: z.enum([OrderCreated.type, OrderDeletionRecorded.type]),
  data: OrderCreated.recorded.pick({ merchantId: true }),
});

/** The merchant of an order, from the first event of the order or, once it is deleted, from its deletion record. Null
 *  for an unknown order, and while a deletion is not recorded yet. */
export const merchantOfOrder = async (client: EventStoreDBClient, orderId: string): Promise<string | null> => {
  for (const prefix of ORDER_PREFIXES) {
    const first = await firstEvent(client, `${prefix}${orderId}`, Owned);
    if (first && first !== 'deleted') return first.event.data.merchantId;
  }
  return null;
};

/** The parts of order events that say how the merchant knows an order. */
const NamingEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal(OrderCreated.type),
    data: OrderCreated.recorded.pick({ merchantId: true, externalReferenceId: true, metadata: true }),
  }),
  z.object({ type: z.literal(OrderUpdated.type), data: OrderUpdated.recorded.pick({ metadata: true }) }),
]);

const NAMING: ReadonlySet<string> = new Set([OrderCreated.type, OrderUpdated.type]);

export interface KnownOrder {
  readonly merchantId: string;
  /** As it is now. Undefined for a deleted order. */
  readonly reference?: RecordedOrderReference | undefined;
}

/** An order as its events and its deletion record show it, also while the orders service is unavailable. Null for an
 *  unknown order, and while a deletion is not recorded yet. */
export const findOrder = async (client: EventStoreDBClient, orderId: string): Promise<KnownOrder | null> => {
  let created: { readonly merchantId: string; readonly externalReferenceId: string } | undefined;
  let metadata: RecordedOrderReference['metadata'];
  for await (const resolved of rawEventsOf(client, orderStreamOf(orderId))) {
    if (!NAMING.has(resolved.event!.type)) continue;
    const { event } = parseRecorded(NamingEvent, resolved);
    if (event.type === 'OrderCreated') created = event.data;
    metadata = event.data.metadata ?? metadata;
  }
  if (created) {
    const { merchantId, externalReferenceId } = created;
    return { merchantId, reference: { externalReferenceId, ...(metadata && { metadata }) } };
  }
  const merchantId = await merchantOfOrder(client, orderId);
  return merchantId === null ? null : { merchantId };
};

/** Whether the payment had failed when its order was deleted. */
export const hadFailedAtDeletion = async (
  client: EventStoreDBClient,
  orderId: string,
  paymentId: string,
): Promise<boolean> => {
  const first = await firstEvent(client, deletionStreamOf(orderId), OrderDeletionEvent);
  if (!first || first === 'deleted') return false;
  return first.event.data.failedPaymentIds?.includes(paymentId) ?? false;
};
