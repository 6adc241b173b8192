import {
  AppError,
  deletionStreamOf,
  derivedId,
  isAppError,
  OrderDeletionEvent,
  OrderEvent,
  orderStreamOf,
} from '@cpg/contracts';
import { evolveRecorded, firstEvent, type Idempotency, lastEvent } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { existingOrder, notFound } from '../commands/order-handler.ts';
import { orderDecider } from '../order/order.ts';
import type { ExistingOrder } from '../order/state.ts';

export interface CreateRequest {
  /** With a `requestHash`, the id for the first use of the Idempotency-Key. */
  readonly orderId: string;
  readonly merchantId: string;
  /** The fingerprint of a request with an Idempotency-Key. */
  readonly requestHash?: string | undefined;
  readonly requestId: string;
}

export interface CreatedOrder {
  readonly order: ExistingOrder;
  /** Whether another request created it before. */
  readonly isRepeat: boolean;
}

/** The values that decide on a create whose order id was used before. */
export interface EarlierUse extends Partial<Idempotency> {
  readonly isDeleted: boolean;
}

/** A create that was recorded under an order id. */
export interface EarlierCreate extends EarlierUse {
  /** Null when nothing says it: the deletion record of the order is missing. */
  readonly merchantId: string | null;
  /** The order right after its first event, and the request that created it; absent once the stream is deleted. */
  readonly created?: { readonly order: ExistingOrder; readonly requestId: string };
}

export interface CreateOnceOptions {
  /** Records the order under this id. Null when the id is in use. */
  readonly create: (orderId: string) => Promise<ExistingOrder | null>;
  /** Finds the create that was recorded under an order id. */
  readonly find: (orderId: string) => Promise<EarlierCreate | null>;
  /** The time by which Idempotency-Keys end. */
  readonly endsBy: () => Date;
}

/** Creates an order at most once per id. The append decides who is first, so a first create reads nothing. A repeat
 *  gets the order as it was after its first event. Throws what `create` throws, and the refusals of `decideRepeat`. */
export const createOnce = async (
  { orderId: firstId, merchantId, requestHash, requestId }: CreateRequest,
  { create, find, endsBy }: CreateOnceOptions,
): Promise<CreatedOrder> => {
  const isRecorded = async (use: number) => (await find(orderIdOfUse(firstId, use))) !== null;
  for (let use = 0; ; use = Math.max(use + 1, await lastUse(isRecorded))) {
    const { created, earlier } = await createOrFind(orderIdOfUse(firstId, use), { create, find });
    if (created) return { order: created, isRepeat: false };
    if (earlier.merchantId !== null && earlier.merchantId !== merchantId) throw notFound();
    if (decideRepeat(earlier, { requestHash, at: endsBy() }) === 'repeat')
      return { order: earlier.created!.order, isRepeat: earlier.created!.requestId !== requestId };
  }
};

type Outcome =
  | { readonly created: ExistingOrder; readonly earlier?: never }
  | { readonly created?: never; readonly earlier: EarlierCreate };

const createOrFind = async (
  orderId: string,
  { create, find }: Pick<CreateOnceOptions, 'create' | 'find'>,
): Promise<Outcome> => {
  try {
    const created = await create(orderId);
    if (created) return { created };
  } catch (error) {
    if (isAppError(error, 'outcome_unknown')) throw error;
    // A repeat needs no rates and no instructions.
    const earlier = await find(orderId).catch(() => null);
    if (!earlier) throw error;
    return { earlier };
  }
  return { earlier: (await find(orderId))! };
};

/** Decides on a create whose order id was used before: a repeat gets the order of the earlier one; an expired key can
 *  create another order. Without a `requestHash` the id was made for this one request. Throws `idempotency_key_reused`
 *  for another request, and `order_deleted`. */
export const decideRepeat = (
  earlier: EarlierUse,
  { requestHash, at }: { readonly requestHash?: string | undefined; readonly at: Date },
): 'repeat' | 'expired' => {
  if (requestHash !== undefined && earlier.until !== undefined && at.toISOString() >= earlier.until) return 'expired';
  if (requestHash !== undefined && earlier.requestHash !== undefined && earlier.requestHash !== requestHash)
    throw new AppError('idempotency_key_reused', 'this Idempotency-Key was used with another request: use a new key');
  if (earlier.isDeleted)
    throw new AppError('order_deleted', 'the order of this request was deleted: use a new Idempotency-Key');
  return 'repeat';
};

/** How long an Idempotency-Key stands for the order that it created. */
const KEPT_FOR_MS = 24 * 60 * 60 * 1_000;

export const keptUntil = (recordedAt: string): string => new Date(Date.parse(recordedAt) + KEPT_FOR_MS).toISOString();

/** The values that the first event of an order records for repeats. */
export const idempotencyOf = (requestHash: string, at: Date): Idempotency => ({
  requestHash,
  until: keptUntil(at.toISOString()),
});

/** The order id of the n-th use of an Idempotency-Key, from 0. A use begins when the one before it has expired.
 *  `firstId` is the id of the first use, which the gateway derives from merchant and key. */
export const orderIdOfUse = (firstId: string, use: number): string =>
  use === 0 ? firstId : derivedId('order', `${firstId}\n${use}`);

/** The last use that `isRecorded`, given that use 0 is. Uses are recorded one after another, so a key that is used
 *  every day for years needs few look-ups. */
export const lastUse = async (isRecorded: (use: number) => Promise<boolean>): Promise<number> => {
  let last = 0;
  let beyond = 1;
  while (await isRecorded(beyond)) [last, beyond] = [beyond, beyond * 2];
  while (beyond - last > 1) {
    const middle = Math.floor((last + beyond) / 2);
    if (await isRecorded(middle)) last = middle;
    else beyond = middle;
  }
  return last;
};

/** Reads the create of an order from its first event, or from its deletion record. Null when the event store has
 *  neither. */
export const earlierCreates =
  (client: EventStoreDBClient): CreateOnceOptions['find'] =>
  async (orderId) => {
    const first = await firstEvent(client, orderStreamOf(orderId), OrderEvent);
    if (first === null) return null;
    const last = first === 'deleted' ? null : await lastEvent(client, orderStreamOf(orderId), OrderEvent);
    // Nothing follows `OrderDeleted`. Without a last event the stream was tombstoned meanwhile.
    if (first === 'deleted' || last === null) return deletedCreate(client, orderId);
    const { event, metadata } = first;
    const order = existingOrder(evolveRecorded(orderDecider, orderDecider.initial, first));
    return {
      until: keptUntil(event.data.at),
      ...metadata.idempotency,
      isDeleted: last.event.type === 'OrderDeleted',
      merchantId: order.merchantId,
      created: { order, requestId: metadata.requestId },
    };
  };

const deletedCreate = async (client: EventStoreDBClient, orderId: string): Promise<EarlierCreate> => {
  const record = await firstEvent(client, deletionStreamOf(orderId), OrderDeletionEvent);
  if (record === null || record === 'deleted') return { isDeleted: true, merchantId: null };
  const { at, merchantId } = record.event.data;
  return { until: keptUntil(at), ...record.metadata.idempotency, isDeleted: true, merchantId };
};
