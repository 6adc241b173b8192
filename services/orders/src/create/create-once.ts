import { isAppError } from '@cpg/contracts';
import type { EarlierCreate, FindEarlierCreate } from './earlier-creates.ts';
import { notFound } from '../commands/order-handler.ts';
import { decideRepeat, lastUse, orderIdOfUse } from '../order/repeat.ts';
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

export interface CreateOnceOptions {
  /** Records the order under this id. Null when the id is in use. */
  readonly create: (orderId: string) => Promise<ExistingOrder | null>;
  readonly find: FindEarlierCreate;
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
      return { order: earlier.order!, isRepeat: earlier.requestId !== requestId };
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
