import { createShop, type Meaning, type Shop, shownMoney } from '@cpg/shop-client';
import type { Order as GatewayOrder, PaymentCurrency } from '@cpg/sdk';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  ConfigService,
  HistoryService,
  isGraphQlErrorResult,
  Logger,
  Order,
  OrderService,
  Payment,
  PaymentMethodService,
  ProcessContext,
  RequestContext,
  RequestContextService,
  TransactionalConnection,
} from '@vendure/core';
import { cartOf, coveredBy, moneyOf } from '../cart.ts';
import { noteOf, takingOf } from '../taking.ts';
import { type CryptoPaymentsOptions, OPTIONS, WEBHOOK_PATH } from './options.ts';
import { createStore, locksRows } from './store.ts';

export const HANDLER_CODE = 'crypto-payments';
const CONTEXT = 'CryptoPayments';
const RELATIONS = [
  'lines',
  'lines.productVariant',
  'shippingLines',
  'shippingLines.shippingMethod',
  'surcharges',
  'payments',
  'payments.refunds',
  'channels',
] as const;

/** A payment page for a cart, or why there is none, for the shopper. */
export type Opened =
  | {
      readonly __typename: 'CryptoPayment';
      readonly paymentUrl: string;
      readonly coin: string;
      readonly amount: string;
      readonly expiresAt: string | undefined;
    }
  | { readonly __typename: 'CryptoPaymentRefusal'; readonly code: string; readonly message: string };

/** Connects this shop with the gateway. */
@Injectable()
export class CryptoPaymentsService implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly shop: Shop;
  /** Orders that were read at the gateway for this very call. A shopper cannot make such an object. */
  private readonly verified = new WeakMap<object, GatewayOrder>();
  private readonly options: CryptoPaymentsOptions;
  private readonly connection: TransactionalConnection;
  private readonly orders: OrderService;
  private readonly history: HistoryService;
  private readonly methods: PaymentMethodService;
  private readonly contexts: RequestContextService;
  private readonly config: ConfigService;
  private readonly process: ProcessContext;

  constructor(
    @Inject(OPTIONS) options: CryptoPaymentsOptions,
    @Inject(TransactionalConnection) connection: TransactionalConnection,
    @Inject(OrderService) orders: OrderService,
    @Inject(HistoryService) history: HistoryService,
    @Inject(PaymentMethodService) methods: PaymentMethodService,
    @Inject(RequestContextService) contexts: RequestContextService,
    @Inject(ConfigService) config: ConfigService,
    @Inject(ProcessContext) process: ProcessContext,
  ) {
    this.options = options;
    this.connection = connection;
    this.orders = orders;
    this.history = history;
    this.methods = methods;
    this.contexts = contexts;
    this.config = config;
    this.process = process;
    this.shop = createShop({
      baseUrl: options.gatewayUrl,
      apiKey: options.apiKey,
      shop: options.shop,
      webhookUrl: options.serverUrl.replace(/\/$/, '') + WEBHOOK_PATH,
      store: createStore(connection, options.shop),
      onOrder: (order, meaning) => this.take(order, meaning),
      log: { info: (message) => Logger.info(message, CONTEXT), warn: (message) => Logger.warn(message, CONTEXT) },
    });
  }

  onApplicationBootstrap(): void {
    if (this.process.isServer) this.shop.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.shop.stop();
  }

  get precision(): number {
    return this.config.entityOptions.moneyStrategy?.precision ?? 2;
  }

  /** The coins with which an order can be paid now, the preferred one first. Empty while the gateway is unreachable. */
  async coinsOf(order: Order): Promise<string[]> {
    const cart = cartOf(order, coveredOf(order), this.precision);
    if (!cart || cart.total.minor <= 0n) return [];
    const offered = await this.shop.coins(cart.total);
    if ('code' in offered) return [];
    const names: string[] = offered
      .filter(({ rails }) => rails.includes('gateway_pay'))
      .map(({ currency }) => currency);
    return this.options.coins ? this.options.coins.filter((coin) => names.includes(coin)) : names;
  }

  /** Opens the payment page of a cart. */
  async open(ctx: RequestContext, orderId: Order['id'], wanted: string | undefined): Promise<Opened> {
    const order = await this.orders.findOne(ctx, orderId, [...RELATIONS]);
    if (order?.state !== 'ArrangingPayment') return refusal('order_state', 'go on to the payment first');
    const cart = cartOf(order, coveredOf(order), this.precision);
    const coins = await this.coinsOf(order);
    const coin = wanted ?? coins[0];
    if (!cart || coin === undefined || !coins.includes(coin))
      return refusal(
        'not_offered',
        'this order cannot be paid in crypto now: choose another coin or another way to pay',
      );
    const urlOf = (url: string | undefined) => url?.replaceAll('{code}', encodeURIComponent(order.code));
    const opened = await this.shop.orders.open({
      ...cart,
      coin: coin as PaymentCurrency,
      rails: ['gateway_pay', 'crypto_deposit'],
      returnUrl: urlOf(this.options.returnUrl),
      cancelUrl: urlOf(this.options.cancelUrl),
      expirationMinutes: this.options.expirationMinutes,
      metadata: { channel: String(ctx.channelId) },
      settled: order.payments.map(({ transactionId }) => transactionId),
    });
    if (!opened.ok) return refusal(opened.fault.code, SHOPPER_TEXTS[opened.fault.code] ?? SHOPPER_TEXTS.unreachable!);
    const { payment_url, currency, remaining_amount, expiration_date, status } = opened.value;
    if (status === 'paid') return refusal('paid', 'this order is paid: it is confirmed in a moment');
    if (payment_url === undefined) return refusal('not_ready', 'the payment page is not ready: try again in a moment');
    return {
      __typename: 'CryptoPayment',
      paymentUrl: payment_url,
      coin: currency,
      amount: remaining_amount,
      expiresAt: expiration_date,
    };
  }

  /** Asks before a cart changes: its payment page must not stay payable. Returns why the cart has to stay as it is. */
  async leave(order: Order): Promise<string | undefined> {
    const newest = await this.shop.orders.newest(order.code);
    if (!newest.ok || !newest.value) return undefined;
    if (order.payments?.some(({ transactionId }) => transactionId === newest.value?.id)) return undefined;
    const canceled = await this.shop.orders.cancel(newest.value.id);
    const isPaid = canceled.ok ? canceled.value.status === 'paid' : canceled.fault.code === 'payment_in_progress';
    return isPaid ? 'A payment of this order is on its way: wait until it has arrived' : undefined;
  }

  /** The order of the gateway with which a payment of this order is claimed. */
  async claimed(order: Order, metadata: object): Promise<GatewayOrder | undefined> {
    const given = this.verified.get(metadata);
    if (given) return given;
    const newest = await this.shop.orders.newest(order.code);
    return newest.ok ? newest.value : undefined;
  }

  /** Locks an order until the transaction ends, so that one payment of the gateway becomes one payment of the shop. */
  async isTaken(tx: RequestContext, order: Order, gatewayOrderId: string): Promise<boolean> {
    const row = this.connection
      .getRepository(tx, Order)
      .createQueryBuilder('o')
      .select('o.id')
      .where('o.id = :id', { id: order.id });
    await (locksRows(this.connection) ? row.setLock('pessimistic_write') : row).getOne();
    const payments = this.connection.getRepository(tx, Payment);
    return payments.exists({ where: { order: { id: order.id }, transactionId: gatewayOrderId, state: 'Settled' } });
  }

  /** What of an amount due a paid order of the gateway covers. */
  coveredBy(gatewayOrder: GatewayOrder, due: number, order: Order): number | undefined {
    return coveredBy(gatewayOrder.item_totals, due, order.currencyCode, this.precision);
  }

  /** Records a refund at the gateway. `refunded` is what the payment has refunded before: a repeat after a crash is the
   *  same refund. */
  async refund(payment: Payment, order: Order, amount: number, refunded: number, reason: string | undefined) {
    const money = moneyOf(amount, order.currencyCode, this.precision);
    if (!money) throw new Error(`${order.currencyCode} is no price currency of the gateway`);
    const text = shownMoney(money);
    const key = `${this.options.shop}/refund/${payment.transactionId}/${refunded}/${amount}`;
    const outcome = await this.shop.orders.refund({ orderId: payment.transactionId, amount: money, key, reason });
    return { outcome, text };
  }

  /** Brings the present state of an order of the gateway into the shop, in one transaction. */
  private async take(gatewayOrder: GatewayOrder, meaning: Meaning): Promise<void> {
    const code = gatewayOrder.external_reference_id;
    const repository = this.connection.rawConnection.getRepository(Order);
    const known = await repository.findOne({ where: { code }, relations: ['channels'] });
    if (!known) {
      if (meaning.isMoneySeen)
        Logger.error(`${gatewayOrder.id} has money for the order ${code}, which this shop does not have`, CONTEXT);
      return;
    }
    const channel = known.channels.find(({ id }) => String(id) === gatewayOrder.metadata?.channel) ?? known.channels[0];
    const ctx = await this.contexts.create({
      apiType: 'admin',
      currencyCode: known.currencyCode,
      ...(channel && { channelOrToken: channel.token }),
    });
    await this.connection.withTransaction(ctx, async (tx) => {
      const isTaken = await this.isTaken(tx, known, gatewayOrder.id);
      const order = await this.connection.getEntityOrThrow(tx, Order, known.id);
      const notes = meaning.decisions.map(({ text }) => text);
      const taking = takingOf(order.state, meaning.state, isTaken);
      if (taking.pay) notes.push(...(await this.settle(tx, order, gatewayOrder)));
      if (taking.note !== undefined) notes.push(taking.note);
      for (const note of notes) await this.note(tx, order, noteOf(note, gatewayOrder.id));
    });
  }

  /** Adds the payment, which places the order. Returns what staff has to know. */
  private async settle(tx: RequestContext, order: Order, gatewayOrder: GatewayOrder): Promise<string[]> {
    if (order.state === 'AddingItems') {
      const moved = await this.orders.transitionToState(tx, order.id, 'ArrangingPayment');
      if (isGraphQlErrorResult(moved)) return [`Paid, but the cart cannot become an order: ${moved.transitionError}`];
    }
    const methods = await this.methods.findAll(tx, { filter: { enabled: { eq: true } } });
    const method = methods.items.find(({ handler }) => handler.code === HANDLER_CODE);
    if (!method) throw new Error(`no enabled payment method of this channel has the handler ${HANDLER_CODE}`);
    const metadata = { gatewayOrder: gatewayOrder.id };
    this.verified.set(metadata, gatewayOrder);
    const paid = await this.orders.addPaymentToOrder(tx, order.id, { method: method.code, metadata });
    if (isGraphQlErrorResult(paid)) throw new Error(`${paid.errorCode}: ${paid.message}`);
    if (paid.state !== 'ArrangingPayment') return [];
    return [
      'The cart changed after its payment page was opened, and is not paid in full: the shopper can pay the rest.',
    ];
  }

  /** Adds a private note to an order, once. */
  private async note(tx: RequestContext, order: Order, note: string): Promise<void> {
    const options = { filter: { type: { eq: 'ORDER_NOTE' } }, take: 1_000 };
    const { items } = await this.history.getHistoryForOrder(tx, order.id, false, options);
    if (items.some(({ data }) => (data as { note?: string }).note === note)) return;
    await this.orders.addNoteToOrder(tx, { id: order.id, note, isPublic: false });
  }
}

const coveredOf = (order: Order): number =>
  (order.payments ?? [])
    .filter(({ state }) => state === 'Settled' || state === 'Authorized')
    .reduce((sum, { amount, refunds }) => sum + amount - refundedOf(refunds), 0);

export const refundedOf = (
  refunds: readonly { readonly total: number; readonly state: string }[] | undefined,
): number => (refunds ?? []).filter(({ state }) => state !== 'Failed').reduce((sum, { total }) => sum + total, 0);

const refusal = (code: string, message: string): Opened => ({ __typename: 'CryptoPaymentRefusal', code, message });

const SHOPPER_TEXTS: Record<string, string> = {
  payment_in_progress: 'a payment of this order is on its way: wait until it has arrived',
  nothing_to_pay: 'nothing is to be paid',
  amount_too_small: 'this order is too small for this coin: choose another one',
  unreachable: 'payments in crypto are not available now: try again, or choose another way to pay',
};
