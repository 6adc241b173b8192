import { container } from '@medusajs/framework';
import { ContainerRegistrationKeys, Modules } from '@medusajs/framework/utils';
import type { Database } from './store.ts';

// Medusa makes the order of a cart first, then its links and reservations, and authorizes the payment last. A process
// that dies in between leaves an order that nobody paid. The metadata of a cart are copied to its order, so a mark in
// them finds such an order also where it has no link with its cart yet.
const MARK = 'crypto_payments_order';
const LOCK_SECONDS = 10;

/** Marks a cart before its completion. */
export const markCart = async (cartId: string, gatewayOrderId: string): Promise<void> => {
  const carts = container.resolve(Modules.CART);
  const { metadata } = await carts.retrieveCart(cartId, { select: ['id', 'metadata'] });
  if (metadata?.[MARK] === gatewayOrderId) return;
  await carts.updateCarts(cartId, { metadata: { ...metadata, [MARK]: gatewayOrderId } });
};

/** The orders that dead completions left without a link with their cart. */
export const unlinkedOrders = async (database: Database, gatewayOrderId: string): Promise<string[]> => {
  const { rows } = await database.raw(
    `select id from "order" where metadata->>'${MARK}' = ? and deleted_at is null
       and not exists (select from order_cart where order_id = "order".id and deleted_at is null)`,
    [gatewayOrderId],
  );
  return rows.map(({ id }) => id as string);
};

interface HalfMade {
  readonly orderId: string;
  readonly cartId: string;
  readonly collectionId: string;
  /** Whether it is half-made still. */
  readonly check: () => Promise<boolean>;
}

/** Removes an order without a payment, as Medusa itself does when a completion fails. Waits for a completion of the
 *  cart that runs, which has the same lock, and checks again. The link with the cart goes last, so that a repeat finds
 *  the rest. */
export const removeOrder = async ({ orderId, cartId, collectionId, check }: HalfMade): Promise<void> => {
  const remove = async () => {
    if (!(await check())) return;
    const orders = container.resolve(Modules.ORDER);
    const [order] = await orders.listOrders({ id: [orderId] }, { select: ['id'], relations: ['items'] });
    const lines = order?.items?.map(({ id }) => id) ?? [];
    if (lines.length > 0) await container.resolve(Modules.INVENTORY).deleteReservationItemsByLineItem(lines);
    if (order) await orders.deleteOrders([orderId]);
    await container.resolve(Modules.CART).updateCarts(cartId, { completed_at: null } as never);
    await container.resolve(ContainerRegistrationKeys.LINK).dismiss([
      { [Modules.ORDER]: { order_id: orderId }, [Modules.PAYMENT]: { payment_collection_id: collectionId } },
      { [Modules.ORDER]: { order_id: orderId }, [Modules.CART]: { cart_id: cartId } },
    ]);
  };
  await container.resolve(Modules.LOCKING).execute(cartId, remove, { timeout: LOCK_SECONDS });
};
