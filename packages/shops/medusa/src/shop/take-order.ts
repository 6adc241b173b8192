import { isDeepStrictEqual } from 'node:util';
import { container } from '@medusajs/framework';
import { Modules } from '@medusajs/framework/utils';
import {
  capturePaymentWorkflow,
  completeCartWorkflow,
  createPaymentSessionsWorkflow,
} from '@medusajs/medusa/core-flows';
import type { Order } from '@cpg/sdk';
import { type Meaning, reasonOf } from '@cpg/shop-client';
import { pricedAt } from '../page.ts';
import { nextStep, type Step } from '../sale.ts';
import { readSale, type FoundSale } from './read-sale.ts';
import type { Database } from './store.ts';
import { markCart, removeOrder, unlinkedOrders } from './half-made.ts';
import { tellStaff } from './staff.ts';

const MOST_STEPS = 6;
let last: Promise<unknown> = Promise.resolve();
let hasFailed = false;

/** Whether an order could not be taken since the last call. */
export const hadFailure = (): boolean => {
  const had = hasFailed;
  hasFailed = false;
  return had;
};

/** Brings Medusa to the state of an order of the gateway. Throws if it could not: the event comes again. */
export const takeOrder = (order: Order, meaning: Meaning, database: Database): Promise<void> => {
  // One at a time in this process, because each holds a connection for the lock that all processes share.
  const taken = last.then(() => locked(order, meaning, database));
  last = taken.catch(() => void (hasFailed = true));
  return taken;
};

const locked = (order: Order, meaning: Meaning, database: Database): Promise<void> =>
  database.transaction(async (transaction) => {
    await transaction.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [
      `crypto-payments:${collectionOf(order)}`,
    ]);
    const sale = await settle(order, meaning, database);
    for (const { id, text } of meaning.decisions) await tellStaff({ order, sale, id, text });
  });

const collectionOf = ({ metadata }: Order): string => String(metadata?.collection);

/** Resolves with what Medusa has of the cart afterwards. */
const settle = async (order: Order, { state }: Meaning, database: Database): Promise<FoundSale | undefined> => {
  const paid = pricedAt(order);
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const sale = await readSale(collectionOf(order), order.id);
    if (state !== 'captured' || !paid) return sale;
    const step = nextStep(paid, sale);
    if (step.do === 'nothing') return sale;
    if (step.do === 'tell') {
      await tellStaff({ order, sale, id: 'paid', text: step.text });
      return sale;
    }
    await perform(step, order, sale!, database);
  }
  throw new Error(`the cart of ${order.id} changes all the time`);
};

const perform = async (
  step: Exclude<Step, { do: 'nothing' | 'tell' }>,
  order: Order,
  sale: FoundSale,
  database: Database,
): Promise<void> => {
  switch (step.do) {
    case 'attach': {
      const input = {
        payment_collection_id: collectionOf(order),
        provider_id: sale.providerId,
        data: { order_id: order.id },
      };
      await createPaymentSessionsWorkflow(container).run({ input });
      return;
    }
    case 'complete':
      return complete(step.cartId, order, sale, database);
    case 'remove':
      await removeOrder({
        ...step,
        collectionId: collectionOf(order),
        check: async () =>
          isDeepStrictEqual(nextStep(pricedAt(order)!, await readSale(collectionOf(order), order.id)), step),
      });
      return;
    case 'capture':
      // Medusa would refuse to capture the amount a second time.
      if (sale.session?.isHalfCaptured)
        await container
          .resolve(Modules.PAYMENT)
          .updatePayment({ id: step.paymentId, captured_at: new Date() } as never);
      // What was done already is not done again.
      await capturePaymentWorkflow(container).run({ input: { payment_id: step.paymentId } });
      return;
  }
};

const complete = async (cartId: string, order: Order, sale: FoundSale, database: Database): Promise<void> => {
  try {
    for (const orderId of await unlinkedOrders(database, order.id)) {
      const check = async () => (await unlinkedOrders(database, order.id)).includes(orderId);
      await removeOrder({ orderId, cartId, collectionId: collectionOf(order), check });
    }
    await markCart(cartId, order.id);
    await completeCartWorkflow(container).run({ input: { id: cartId } });
  } catch (error) {
    const reason = reasonOf(error);
    const text = `The cart is paid, but Medusa could not make an order of it: ${reason}. It is tried again; if the reason stays, pay it back.`;
    await tellStaff({ order, sale, id: `complete:${reason}`, text });
    throw new Error(reason, { cause: error });
  }
};
