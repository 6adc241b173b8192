import { ADDRESS_LEASE_MS, AppError, type AssignedInstruction } from '@cpg/contracts';
import { type CallContext, steadyNowMs } from '@cpg/platform';
import type { PaymentsClient } from '../commands/payments-client.ts';
import type { ExistingOrder } from '../order/state.ts';

/** Where an order can be paid. */
export interface Payables {
  readonly instructions: AssignedInstruction[];
  /** Call it right before each attempt to record the instructions. Throws once their lease has ended: another order may
   *  then get them. */
  readonly requireLease: () => void;
  /** Lets another order have them. Only when this order certainly never gets them. */
  readonly putBack: () => void;
}

export type PayableOrder = Pick<
  ExistingOrder,
  'orderId' | 'merchantId' | 'currency' | 'decimals' | 'rails' | 'totalMinor'
>;

/** The payables of a new order. Undefined while a provider does not answer in time. */
export type FindPayables = (order: PayableOrder, context: CallContext) => Promise<Payables | undefined>;

/** Takes payables from the stock. Requests them from payments when the stock has none, or when a provider has to
 *  register the order. */
export const findPayables =
  ({
    stock,
    payments,
    nowMs = steadyNowMs,
  }: {
    /** Absent: payments assigns all instructions. */
    readonly stock?: { readonly take: (order: PayableOrder) => Payables | null };
    readonly payments: Pick<PaymentsClient, 'instructions'>;
    readonly nowMs?: () => number;
  }): FindPayables =>
  async (order, context) => {
    const taken = stock?.take(order);
    if (taken) return taken;
    const { orderId, merchantId, currency, decimals, rails, totalMinor } = order;
    const sentAtMs = nowMs();
    const answer = await payments.instructions(
      {
        order_id: orderId,
        merchant_id: merchantId,
        currency,
        rails: [...rails],
        amount_minor: String(totalMinor),
        decimals,
      },
      context,
    );
    if (!answer) return undefined;
    const requireLease = leaseUntil(sentAtMs + ADDRESS_LEASE_MS, nowMs);
    // Payments keeps them for this order: they belong to no stock.
    return { instructions: answer.instructions, requireLease, putBack: () => {} };
  };

/** Throws after `endsAtMs` of the monotonic clock `nowMs`. */
export const leaseUntil = (endsAtMs: number, nowMs: () => number) => (): void => {
  if (nowMs() >= endsAtMs)
    throw new AppError('dependency_unavailable', 'the deposit instructions came too late: retry the request');
};

/** Records an order with its payables. Puts them back if the order certainly never gets them: nothing was sent to the
 *  event store, or the order has others already. */
export const recordWith = async (
  payables: Payables | undefined,
  record: (beforeAppend: () => void) => Promise<ExistingOrder>,
): Promise<ExistingOrder> => {
  let wasSent = false;
  const beforeAppend = () => {
    payables?.requireLease();
    wasSent = true;
  };
  try {
    const order = await record(beforeAppend);
    if (payables && !showsAny(order, payables)) payables.putBack();
    return order;
  } catch (error) {
    if (!wasSent) payables?.putBack();
    throw error;
  }
};

/** Compares the addresses and references alone: other fields can differ once the order was read back. */
const showsAny = (order: ExistingOrder, { instructions }: Payables): boolean => {
  const shown = new Set(order.instructions.map(destinationOf));
  return instructions.some((instruction) => shown.has(destinationOf(instruction)));
};

const destinationOf = (instruction: AssignedInstruction): string =>
  instruction.rail === 'gateway_pay' ? instruction.paymentReference : instruction.address;
