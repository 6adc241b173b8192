import {
  type ErrorCode,
  isAppError,
  OrderId,
  parsePositiveAmount,
  type RegisteredPayment,
  type RegisterPaymentCall,
  type Scales,
} from '@cpg/contracts';
import { afterRecording, type HandleOptions } from '@cpg/event-sourcing';
import type { CallContext } from '@cpg/platform';
import type { PaymentCommands } from './commands.ts';
import type { NotifyOrder } from './notify-order.ts';
import type { FindPayable } from '../payables/find-payable.ts';
import type { KnownOrder } from '../payables/payable.ts';
import { feeOf, type FeeSchedule } from '../payment/fees.ts';
import { paymentIdOf, providerIdAfterDeletion } from '../payment/identity.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { paymentResource } from '../payment/view.ts';

export interface MatchingOptions {
  readonly commands: PaymentCommands;
  readonly notifyOrder: NotifyOrder;
  readonly findPayable: FindPayable;
  /** Null for an unknown order. */
  readonly findOrder: (orderId: string) => Promise<KnownOrder | null>;
  /** Whether the payment had failed when its order was deleted. */
  readonly hadFailedAtDeletion: (orderId: string, paymentId: string) => Promise<boolean>;
  readonly fees: FeeSchedule;
  /** Of new payments. */
  readonly scales: Scales;
  readonly now: () => Date;
}

export type RegisterPayment = (
  call: RegisterPaymentCall,
  context: CallContext,
  options?: Pick<HandleOptions, 'beforeAppend'>,
) => Promise<RegisteredPayment>;

/** Registers a payment that a rail reports: records it on its own stream, offers it to its order, and records what the
 *  order decides. The events of orders show its order and merchant, so it is recorded while orders is unavailable.
 *  Every step is idempotent, so a repeated call continues where the last one stopped. Once the payment is recorded,
 *  Kafka also drives the other steps. Money of a failed payment that was deleted with its order becomes a payment of
 *  its own. Throws `not_found` for any other deleted payment, and `payment_conflict` when the same payment is reported
 *  with another order, amount or currency. */
export const registerPayments = ({
  commands,
  notifyOrder,
  findPayable,
  findOrder,
  hadFailedAtDeletion,
  fees,
  scales,
  now,
}: MatchingOptions): RegisterPayment => {
  const receive = async (
    call: RegisterPaymentCall,
    context: CallContext,
    options: Pick<HandleOptions, 'beforeAppend'>,
  ): Promise<ExistingPayment> => {
    const { address, currency, confirmed, metadata } = call;
    const decimals = scales[currency];
    const amountMinor = parsePositiveAmount(call, decimals);
    const { orderId, merchantId, order, rail } = await ownerOf(call);
    const terms = { merchantId, rail, currency, decimals, amountMinor };
    const at = now();
    const seenAt = call.seen_at === undefined ? at : new Date(call.seen_at);
    // By the rail that reports it, which is the same for each report; the address says which rail is paid.
    const idOf = (providerId: string) => paymentIdOf(call.rail, providerId);
    const receiveAs = (providerId: string) =>
      commands.run(
        idOf(providerId),
        {
          type: 'ReceivePayment',
          ...terms,
          paymentId: idOf(providerId),
          orderId,
          ...(order && { order }),
          ...(address !== undefined && { address }),
          providerId,
          ...(call.asset !== undefined && { asset: call.asset }),
          ...(call.asset_label !== undefined && { assetLabel: call.asset_label }),
          ...(call.credited === false && { credited: false }),
          feeMinor: feeOf(fees, terms),
          feeSchedule: fees.version,
          confirmed,
          ...(call.reinstates !== undefined && { reinstates: call.reinstates }),
          ...(call.tx_hash !== undefined && { txHash: call.tx_hash }),
          ...(call.block && { block: call.block }),
          ...(call.confirmations !== undefined && { confirmations: call.confirmations }),
          ...(metadata && { metadata }),
          // A chain does not show the future, and orders judges by its own clock.
          seenAt: call.block || seenAt < at ? seenAt : at,
          at,
        },
        context,
        { fresh: true, ...options },
      );
    try {
      return await receiveAs(call.provider_id);
    } catch (error) {
      if (!isAppError(error, 'not_found') || call.reinstates === false) throw error;
      if (!(await hadFailedAtDeletion(orderId, idOf(call.provider_id)))) throw error;
      return receiveAs(providerIdAfterDeletion(call.provider_id));
    }
  };

  const ownerOf = async ({ order_id, address, rail }: RegisterPaymentCall) => {
    const found = address === undefined ? null : await findPayable({ address });
    const orderId = order_id ?? found?.orderId ?? address!;
    const known = isOrderId(orderId) ? await findOrder(orderId) : null;
    const merchantId = found?.merchantId ?? known?.merchantId ?? UNCLAIMED_MERCHANT;
    return { orderId, merchantId, order: known?.reference, rail: found?.rail ?? rail };
  };

  return async (call, context, options = {}) => {
    const received = await receive(call, context, options);
    const { payment, order } = await afterRecording(() => notifyOrder(received, context));
    return { payment: paymentResource(payment), order };
  };
};

/** Refusals of payments itself that no repeat of a report changes: the payment is recorded with other money, refunded
 *  or deleted, or its amount cannot be written. */
const FINAL: readonly ErrorCode[] = ['payment_conflict', 'invalid_request', 'not_found'];

/** Whether a report can never be recorded. An answer of orders is never final, because it may come from a fault or a
 *  wrong setting. */
export const isRefusedForGood = (error: unknown): boolean =>
  isAppError(error) && error.answeredBy === undefined && FINAL.includes(error.code);

const isOrderId = (id: string): boolean => OrderId.safeParse(id).success;
