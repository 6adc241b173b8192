import { type Money, shownMoney } from '@cpg/shop-client';

/** What Medusa has of a cart that an order of the gateway was made for. */
export interface Sale {
  readonly cartId?: string | undefined;
  /** The order of Medusa, once the cart is one. */
  readonly orderId?: string | undefined;
  /** The present total of the cart. */
  readonly total: Money;
  /** The payment session that shows this order of the gateway. Medusa deletes it when the cart changes. */
  readonly session?: PaymentSession | undefined;
  /** Whether another session has a payment. */
  readonly isPaidOtherwise: boolean;
}

interface PaymentSession {
  readonly id: string;
  readonly paymentId?: string | undefined;
  /** Whether the order has the capture in its books. */
  readonly isCaptured: boolean;
  /** A process died after it had written the capture, and before it had marked the payment. */
  readonly isHalfCaptured?: boolean | undefined;
}

/** One change of Medusa. A handler does one after the other, and reads the sale again before each, so it goes on where
 *  an earlier one died. */
export type Step =
  | { readonly do: 'nothing' }
  /** Gives the cart a session for this order of the gateway again. */
  | { readonly do: 'attach' }
  | { readonly do: 'complete'; readonly cartId: string }
  /** Removes an order that a completion left which died before its payment, so that the cart is completed again. */
  | { readonly do: 'remove'; readonly orderId: string; readonly cartId: string }
  | { readonly do: 'capture'; readonly paymentId: string }
  /** People decide. */
  | { readonly do: 'tell'; readonly text: string };

/** The next step of a cart for which `paid` is paid. */
export const nextStep = (paid: Money, sale: Sale | undefined): Step => {
  const amount = shownMoney(paid);
  if (!sale?.cartId) return tell(`${amount} was paid, but the shop has no cart for it. Pay it back.`);
  const { session, cartId, orderId } = sale;
  if (session?.isCaptured) return { do: 'nothing' };
  if (session?.paymentId !== undefined && orderId !== undefined) return { do: 'capture', paymentId: session.paymentId };
  if (sale.isPaidOtherwise || (orderId !== undefined && !session))
    return tell(`${amount} was paid for a cart that was already paid in another way. Pay it back.`);
  if (!isSame(sale.total, paid))
    return tell(
      `${amount} was paid for a cart that changed meanwhile: it costs ${shownMoney(sale.total)} now. Pay it back, or make the order by hand.`,
    );
  if (!session) return { do: 'attach' };
  return orderId === undefined ? { do: 'complete', cartId } : { do: 'remove', orderId, cartId };
};

const tell = (text: string): Step => ({ do: 'tell', text });

const isSame = (one: Money, other: Money): boolean => one.minor === other.minor && one.currency === other.currency;
