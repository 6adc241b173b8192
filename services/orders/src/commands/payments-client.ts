import {
  AppError,
  Availability,
  ChainsWaiting,
  type ChainsWaitingCall,
  Instructions,
  type InstructionsCall,
  isTemporary,
  type OrderRefundCall,
  type PaymentOutcome,
  ProvidersWaiting,
  RefundableOfOrder,
  type ProvidersWaitingCall,
  Stock,
  type StockCall,
  PaymentsOfOrder,
  UnsettledPayment,
  type UnsettledPaymentCall,
} from '@cpg/contracts';
import { type CallContext, type InternalClient, newContext } from '@cpg/platform';
import { z } from 'zod';
import type { ExistingOrder } from '../order/state.ts';

/** Limits of the call that sends outcomes; by default those of every internal call. */
export interface OutcomesLimits {
  readonly timeoutMs: number;
  readonly connectRetryMs: number;
}

export interface PaymentsClient {
  /** Deposit instructions, one per rail. Undefined if a provider does not answer in time. */
  readonly instructions: (call: InstructionsCall, context: CallContext) => Promise<Instructions | undefined>;
  /** The currencies and networks that new orders can be paid with now. */
  readonly availability: () => Promise<Availability>;
  /** Leases payables for orders to come. */
  readonly leaseStock: (call: StockCall) => Promise<Stock>;
  /** Which of these networks may still show a payment that was made until an instant to one of the addresses. */
  readonly chainsWaiting: (call: ChainsWaitingCall, context: CallContext) => Promise<ChainsWaiting>;
  /** Which outside providers did not show all payments by these references. Payments records those that they show. */
  readonly providersWaiting: (call: ProvidersWaitingCall, context: CallContext) => Promise<ProvidersWaiting>;
  readonly recordOutcomes: (outcomes: PaymentOutcome[], context: CallContext, limits?: OutcomesLimits) => Promise<void>;
  /** A payment of the order that is not settled, other than those that the order decides on, or that has an open refund.
   *  The order does not decide on a payment that it knows as failed: payments may have seen its money again. */
  readonly unsettledPayment: (
    order: Pick<ExistingOrder, 'orderId' | 'payments'>,
    context: CallContext,
  ) => Promise<UnsettledPayment>;
  /** Every payment of the order, also those that it does not decide on. */
  readonly paymentIdsOf: (orderId: string, context: CallContext) => Promise<string[]>;
  /** What can be refunded of the applied amounts of these payments. */
  readonly refundable: (paymentIds: readonly string[], context: CallContext) => Promise<RefundableOfOrder>;
  /** Records the parts of a refund of an order. */
  readonly recordOrderRefund: (call: OrderRefundCall, context: CallContext) => Promise<void>;
  /** Deletes the payments of a deleted order. */
  readonly deletePayments: (orderId: string, context: CallContext) => Promise<void>;
}

const INSTRUCTIONS_TIMEOUT_MS = 3_000;
const AVAILABILITY_TIMEOUT_MS = 3_000;
const STOCK_TIMEOUT_MS = 5_000;
const WAITING_TIMEOUT_MS = 3_000;
/** Keeps a call below 256 KiB. */
const OUTCOMES_PER_CALL = 500;
const NoContent = z.undefined();

export const paymentsClient = (client: InternalClient): PaymentsClient => ({
  instructions: async (body, context) => {
    try {
      return await client.call('POST', '/instructions', {
        body,
        context,
        response: Instructions,
        timeoutMs: INSTRUCTIONS_TIMEOUT_MS,
      });
    } catch (error) {
      if (!isTemporary(error) || error.code === 'overloaded') throw error;
      if (isTimeout(error.cause)) return undefined;
      // Instructions without an order have no effect that a caller could see.
      throw new AppError('dependency_unavailable', 'payments is temporarily unavailable: retry the request', {
        cause: error,
      });
    }
  },
  availability: () =>
    client.call('GET', '/availability', {
      context: newContext('service:orders'),
      response: Availability,
      timeoutMs: AVAILABILITY_TIMEOUT_MS,
      connectRetryMs: 0,
    }),
  leaseStock: (body) =>
    client.call('POST', '/stock', {
      body,
      context: newContext('service:orders'),
      response: Stock,
      timeoutMs: STOCK_TIMEOUT_MS,
      connectRetryMs: 0,
      idempotent: false,
    }),
  chainsWaiting: (body, context) => {
    const options = { body, context, response: ChainsWaiting, timeoutMs: WAITING_TIMEOUT_MS, connectRetryMs: 0 };
    return client.call('POST', '/chains/waiting', options);
  },
  providersWaiting: (body, context) => {
    const options = { body, context, response: ProvidersWaiting, timeoutMs: WAITING_TIMEOUT_MS, connectRetryMs: 0 };
    return client.call('POST', '/providers/waiting', options);
  },
  recordOutcomes: async (outcomes, context, limits) => {
    for (let start = 0; start < outcomes.length; start += OUTCOMES_PER_CALL) {
      const body = { outcomes: outcomes.slice(start, start + OUTCOMES_PER_CALL) };
      await client.call('POST', '/outcomes', { body, context, response: NoContent, ...limits });
    }
  },
  unsettledPayment: async ({ orderId, payments: known }, context) => {
    const held = known.filter(({ status }) => status !== 'failed');
    const body: UnsettledPaymentCall = { held_by_order: held.map(({ paymentId }) => paymentId) };
    const path = `/orders/${orderId}/unsettled-payment`;
    return client.call('POST', path, { body, context, response: UnsettledPayment });
  },
  paymentIdsOf: async (orderId, context) => {
    const options = { context, response: PaymentsOfOrder };
    return (await client.call('GET', `/orders/${orderId}/payments`, options)).payment_ids;
  },
  refundable: (paymentIds, context) =>
    client.call('POST', '/refundable', { body: { payment_ids: paymentIds }, context, response: RefundableOfOrder }),
  recordOrderRefund: async (body, context) => {
    await client.call('POST', '/order-refunds', { body, context, response: NoContent });
  },
  deletePayments: async (orderId, context) => {
    await client.call('DELETE', `/orders/${orderId}/payments`, { context, response: NoContent });
  },
});

const isTimeout = (cause: unknown): boolean => /Timeout/.test((cause as { name?: string } | undefined)?.name ?? '');
