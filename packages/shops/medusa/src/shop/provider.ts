import { randomUUID } from 'node:crypto';
import { container } from '@medusajs/framework';
import {
  AbstractPaymentProvider,
  ContainerRegistrationKeys,
  MedusaError,
  ModuleProvider,
  Modules,
  PaymentActions,
  PaymentSessionStatus,
} from '@medusajs/framework/utils';
import type {
  AuthorizePaymentInput,
  AuthorizePaymentOutput,
  CancelPaymentInput,
  CancelPaymentOutput,
  CapturePaymentInput,
  CapturePaymentOutput,
  DeletePaymentInput,
  DeletePaymentOutput,
  GetPaymentStatusInput,
  GetPaymentStatusOutput,
  InitiatePaymentInput,
  InitiatePaymentOutput,
  RefundPaymentInput,
  RefundPaymentOutput,
  RetrievePaymentInput,
  RetrievePaymentOutput,
  UpdatePaymentInput,
  UpdatePaymentOutput,
  WebhookActionResult,
} from '@medusajs/framework/types';
import type { Order, PaymentCurrency } from '@cpg/sdk';
import { type Cart, type Fault, meaningOf, type Money, type Outcome } from '@cpg/shop-client';
import { type MedusaAmount, moneyOf } from '../amounts.ts';
import { pricedAt } from '../page.ts';
import { IDENTIFIER } from './read-sale.ts';
import { configure, getRuntime } from './runtime.ts';

/** The data of a payment session. The storefront reads `payment_url`, and may choose `coin`. */
interface SessionData {
  readonly session_id: string;
  readonly collection_id: string;
  readonly order_id: string;
  readonly coin: PaymentCurrency;
  readonly payment_url?: string | undefined;
  /** What the cart cost when the session was made, in minor units. */
  readonly minor: string;
  readonly currency: string;
}

const TOTAL_LINE = 'Your order';

/** Pays carts of Medusa by orders of the gateway. The webhook route completes the cart when the order is paid. */
class CryptoPayments extends AbstractPaymentProvider<Record<string, unknown>> {
  static override identifier = IDENTIFIER;

  // Medusa makes it: the constructor of the base class is protected.
  constructor(cradle: Record<string, unknown>, options: Record<string, unknown>) {
    super(cradle, options);
  }

  static override validateOptions(options: Record<string, unknown>): void {
    configure(options);
  }

  override async initiatePayment({
    amount,
    currency_code,
    data = {},
  }: InitiatePaymentInput): Promise<InitiatePaymentOutput> {
    const { shop, pages, connect } = getRuntime();
    const sessionId = data.session_id as string;
    const collectionId = await collectionOf(sessionId);
    const total = requireMoney(amount as MedusaAmount, currency_code);
    if (typeof data.order_id === 'string') {
      // Of the webhook route: a paid order gets a session again.
      const paid = valueOf(await shop.orders.read(data.order_id));
      return { id: paid.id, data: { ...dataOf(paid, { sessionId, collectionId, total }) } };
    }
    // No shopper pays before the gateway knows where to send the event.
    valueOf(await connect());
    const order = valueOf(await pages.open(cartOf(collectionId, total, data.coin), sessionId));
    return { id: order.id, data: { ...dataOf(order, { sessionId, collectionId, total }) } };
  }

  override async updatePayment({ amount, currency_code, data }: UpdatePaymentInput): Promise<UpdatePaymentOutput> {
    const known = data as unknown as SessionData;
    const total = requireMoney(amount as MedusaAmount, currency_code);
    const order = valueOf(
      await getRuntime().shop.orders.open(cartOf(known.collection_id, total, known.coin), known.order_id),
    );
    return { data: { ...dataOf(order, { sessionId: known.session_id, collectionId: known.collection_id, total }) } };
  }

  /** A session is authorized once its order is paid for the total of the cart. Paid money is there for good, and the
   *  webhook route captures it once there is an order. */
  override async authorizePayment({ data = {} }: AuthorizePaymentInput): Promise<AuthorizePaymentOutput> {
    const { status } = await this.getPaymentStatus({ data });
    return { data, status: status === 'captured' ? PaymentSessionStatus.AUTHORIZED : status };
  }

  override async getPaymentStatus({ data }: GetPaymentStatusInput): Promise<GetPaymentStatusOutput> {
    const { order_id, minor } = data as unknown as SessionData;
    const order = valueOf(await getRuntime().shop.orders.read(order_id));
    const isWhole = pricedAt(order)?.minor === BigInt(minor);
    const status = {
      captured: isWhole ? PaymentSessionStatus.CAPTURED : PaymentSessionStatus.REQUIRES_MORE,
      pending: PaymentSessionStatus.PENDING,
      canceled: PaymentSessionStatus.CANCELED,
      refunded: PaymentSessionStatus.CANCELED,
      reversed: PaymentSessionStatus.ERROR,
    }[meaningOf(order).state];
    return { status };
  }

  override async capturePayment({ data = {} }: CapturePaymentInput): Promise<CapturePaymentOutput> {
    const { status } = await this.getPaymentStatus({ data });
    if (status !== PaymentSessionStatus.CAPTURED)
      throw refusal(`The gateway has no payment for this order: its state is ${status}.`);
    return { data };
  }

  /** Medusa calls it for a payment that it did not capture, also when the completion of a cart fails after the payment
   *  was authorized. Money that came is not canceled: Medusa keeps the payment then, and the next completion uses
   *  it. */
  override async cancelPayment({ data = {} }: CancelPaymentInput): Promise<CancelPaymentOutput> {
    const { status } = valueOf(await getRuntime().shop.orders.cancel((data as unknown as SessionData).order_id));
    if (status === 'paid') throw refusal('The payment has come, so it cannot be canceled. Capture it, and refund it.');
    return { data };
  }

  /** Never throws: the cart goes on without the gateway. */
  override async deletePayment({ data = {} }: DeletePaymentInput): Promise<DeletePaymentOutput> {
    const { collection_id, session_id, order_id } = data as unknown as SessionData;
    if (order_id !== undefined)
      await tolerated('cancel', getRuntime().pages.close(collection_id, session_id, order_id));
    return { data };
  }

  /** Records at the gateway that the merchant pays back: the gateway moves no money. */
  override async refundPayment({ amount, data = {}, context }: RefundPaymentInput): Promise<RefundPaymentOutput> {
    const { order_id, currency } = data as unknown as SessionData;
    const money = requireMoney(amount as MedusaAmount, currency);
    // Medusa's id of the refund: the same id is one refund, however often it is sent.
    const key = context?.idempotency_key ?? randomUUID();
    valueOf(await getRuntime().shop.orders.refund({ orderId: order_id, amount: money, key }));
    return { data };
  }

  override async retrievePayment({ data = {} }: RetrievePaymentInput): Promise<RetrievePaymentOutput> {
    const order = valueOf(await getRuntime().shop.orders.read((data as unknown as SessionData).order_id));
    return { data: { ...order } };
  }

  /** Medusa's own webhook route answers before it has verified and stored an event. This plugin has a route of its
   *  own. */
  override async getWebhookActionAndData(): Promise<WebhookActionResult> {
    return { action: PaymentActions.NOT_SUPPORTED };
  }
}

export const provider = ModuleProvider(Modules.PAYMENT, { services: [CryptoPayments] });

const cartOf = (collectionId: string, total: Money, coin: unknown): Cart => {
  const { options } = getRuntime();
  return {
    reference: collectionId,
    lines: [{ name: TOTAL_LINE, minor: total.minor }],
    total,
    coin: typeof coin === 'string' ? (coin as PaymentCurrency) : options.coin,
    rails: options.rails,
    returnUrl: options.returnUrl,
    cancelUrl: options.cancelUrl,
    expirationMinutes: options.expirationMinutes,
    metadata: { collection: collectionId },
  };
};

const dataOf = (
  order: Order,
  { sessionId, collectionId, total }: { sessionId: string; collectionId: string; total: Money },
): SessionData => ({
  session_id: sessionId,
  collection_id: collectionId,
  order_id: order.id,
  coin: order.currency,
  payment_url: order.payment_url,
  minor: String(total.minor),
  currency: total.currency,
});

const collectionOf = async (sessionId: string): Promise<string> => {
  const payments = container.resolve(Modules.PAYMENT);
  const { payment_collection_id } = await payments.retrievePaymentSession(sessionId, {
    select: ['id', 'payment_collection_id'],
  });
  return payment_collection_id;
};

const requireMoney = (amount: MedusaAmount, currencyCode: string): Money => {
  const money = moneyOf(amount, currencyCode);
  if (money) return money;
  throw refusal(`Crypto payments take no prices in ${currencyCode.toUpperCase()}. Choose another way to pay.`);
};

const refusal = (message: string) => new MedusaError(MedusaError.Types.NOT_ALLOWED, message);

const valueOf = <T>(outcome: Outcome<T>): T => {
  if (outcome.ok) return outcome.value;
  throw refusal(sentenceOf(outcome.fault));
};

const sentenceOf = ({ kind, code, message }: Fault): string => {
  if (kind === 'unreachable')
    return `Crypto payments cannot be reached at the moment: try again, or choose another way to pay. (${message})`;
  if (code === 'payment_in_progress')
    return 'A payment for this cart is on its way. Wait until it is confirmed, then change the cart.';
  return message;
};

/** The log has what could not be done. */
const tolerated = async (what: string, work: Promise<Outcome<Order> | undefined>): Promise<void> => {
  const outcome = await work;
  if (!outcome || outcome.ok) return;
  const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
  logger.warn(`crypto payments: could not ${what} an order of the gateway: ${outcome.fault.message}`);
};
