import { container } from '@medusajs/framework';
import { ContainerRegistrationKeys, Modules } from '@medusajs/framework/utils';
import { type MedusaAmount, moneyOf } from '../amounts.ts';
import type { Sale } from '../sale.ts';

export interface FoundSale extends Sale {
  readonly providerId: string;
}

interface FoundSession {
  readonly id: string;
  readonly provider_id: string;
  readonly data: { readonly order_id?: string } | null;
  readonly payment?: FoundPayment | null;
}

interface FoundPayment {
  readonly id: string;
  readonly captured_at: unknown;
  readonly canceled_at: unknown;
  readonly captures?: readonly { readonly id: string }[];
}

interface FoundOrder {
  readonly transactions?: readonly { readonly reference: string; readonly reference_id: string }[];
}

interface FoundCollection {
  readonly amount: MedusaAmount;
  readonly currency_code: string;
  readonly payment_sessions: readonly FoundSession[];
}

/** The identifier of the provider, with which Medusa's ids of it begin. */
export const IDENTIFIER = 'crypto';

/** What Medusa has of the cart with this payment collection. Undefined if there is none. */
export const readSale = async (collectionId: string, gatewayOrderId: string): Promise<FoundSale | undefined> => {
  const [collection] = await find<FoundCollection>('payment_collection', { id: collectionId }, [
    'id',
    'amount',
    'currency_code',
    'payment_sessions.*',
    'payment_sessions.payment.*',
    'payment_sessions.payment.captures.*',
  ]);
  const total = collection && moneyOf(collection.amount, collection.currency_code);
  if (!total) return undefined;
  const [cart] = await find<{ cart_id: string }>('cart_payment_collection', { payment_collection_id: collectionId }, [
    'cart_id',
  ]);
  const [order] = cart ? await find<{ order_id: string }>('order_cart', { cart_id: cart.cart_id }, ['order_id']) : [];
  const sessions = collection.payment_sessions;
  const session = sessions.find(({ data }) => data?.order_id === gatewayOrderId);
  return {
    total,
    cartId: cart?.cart_id,
    orderId: order?.order_id,
    providerId: session?.provider_id ?? (await providerId()),
    session: session && {
      id: session.id,
      paymentId: session.payment && !session.payment.canceled_at ? session.payment.id : undefined,
      isHalfCaptured: Boolean(session.payment?.captures?.length && !session.payment.captured_at),
      isCaptured: await isBooked(order?.order_id, session.payment),
    },
    isPaidOtherwise: sessions.some((other) => other !== session && other.payment && !other.payment.canceled_at),
  };
};

/** Whether the order has the capture in its transactions: the last of what Medusa writes of a capture. */
const isBooked = async (orderId: string | undefined, payment: FoundPayment | null | undefined): Promise<boolean> => {
  if (orderId === undefined || !payment?.captured_at) return false;
  const [order] = await find<FoundOrder>('order', { id: orderId }, ['id', 'transactions.*']);
  const booked = order?.transactions?.filter(({ reference }) => reference === 'capture') ?? [];
  return booked.some(({ reference_id }) => payment.captures?.some(({ id }) => id === reference_id));
};

const find = async <T>(entity: string, filters: Record<string, unknown>, fields: string[]): Promise<T[]> => {
  const query = container.resolve(ContainerRegistrationKeys.QUERY);
  const { data } = await query.graph({ entity, filters, fields } as never);
  return data as T[];
};

const providerId = async (): Promise<string> => {
  const providers = await container.resolve(Modules.PAYMENT).listPaymentProviders({});
  return providers.find(({ id }) => id.startsWith(`pp_${IDENTIFIER}`))!.id;
};
