import { meaningOf } from '@cpg/shop-client';
import {
  type Injector,
  LanguageCode,
  type Order,
  type OrderProcess,
  PaymentMethodEligibilityChecker,
  PaymentMethodHandler,
} from '@vendure/core';
import { CryptoPaymentsService, HANDLER_CODE, refundedOf } from './service.ts';

let service: CryptoPaymentsService;
const init = (injector: Injector) => void (service = injector.get(CryptoPaymentsService));
const english = (value: string) => [{ languageCode: LanguageCode.en, value }];

/** Takes a payment when the gateway says that it is paid, whoever claims it. */
export const handler = new PaymentMethodHandler({
  code: HANDLER_CODE,
  description: english('Crypto payments'),
  args: {},
  init,
  createPayment: async (ctx, order, amount, _args, metadata) => {
    const declined = (errorMessage: string) => ({ amount, state: 'Declined' as const, errorMessage });
    const claimed = await service.claimed(order, metadata);
    if (!claimed || meaningOf(claimed).state !== 'captured')
      return declined('The gateway has no payment of this order.');
    if (claimed.external_reference_id !== order.code) return declined('The payment is of another order.');
    if (await service.isTaken(ctx, order, claimed.id)) return declined('The payment is recorded already.');
    const covered = service.coveredBy(claimed, amount, order);
    if (covered === undefined) return declined(`The payment is not in ${order.currencyCode}.`);
    return {
      amount: covered,
      state: 'Settled',
      transactionId: claimed.id,
      metadata: { paidAmount: claimed.total_amount, coin: claimed.currency },
    };
  },
  settlePayment: async (_ctx, _order, payment) => {
    const order = await service.shop.orders.read(payment.transactionId);
    if (order.ok && meaningOf(order.value).state === 'captured') return { success: true };
    const errorMessage = order.ok ? meaningOf(order.value).text : order.fault.message;
    return { success: false, state: 'Authorized' as const, errorMessage };
  },
  cancelPayment: async (_ctx, _order, payment) => {
    const canceled = await service.shop.orders.cancel(payment.transactionId);
    if (canceled.ok && meaningOf(canceled.value).state === 'canceled') return { success: true };
    const errorMessage = canceled.ok ? meaningOf(canceled.value).text : canceled.fault.message;
    return { success: false, state: payment.state as 'Authorized', errorMessage };
  },
  createRefund: async (_ctx, input, amount, order, payment) => {
    const { outcome, text } = await service.refund(
      payment,
      order,
      amount,
      refundedOf(payment.refunds),
      input.reason ?? undefined,
    );
    if (!outcome.ok) return { state: 'Failed', metadata: { errorMessage: outcome.fault.message } };
    return {
      state: 'Settled',
      transactionId: outcome.value.id,
      metadata: { send: `Send ${text} to the customer from your wallet.` },
    };
  },
});

/** Hides the payment method while nothing can be paid: another currency, a sum that is too small, no gateway. */
export const eligibilityChecker = new PaymentMethodEligibilityChecker({
  code: 'crypto-payments-offered',
  description: english('Only if the gateway takes the currency and the sum'),
  args: {},
  init,
  // Money that came is taken, whatever the gateway offers now.
  check: async (ctx, order) => ctx.apiType === 'admin' || (await service.coinsOf(order)).length > 0,
});

/** Closes the payment page before a cart changes, and keeps the cart as it is while money is on its way. */
export const orderProcess: OrderProcess<string> = {
  init,
  onTransitionStart: async (from, to, { ctx, order }) => {
    if (from !== 'ArrangingPayment' || to !== 'AddingItems' || ctx.apiType === 'admin') return undefined;
    return service.leave(order as Order);
  },
};
