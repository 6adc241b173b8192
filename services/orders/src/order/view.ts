import { paymentUri } from '@cpg/assets';
import {
  type AssignedInstruction,
  type DepositInstruction,
  fromMinor,
  OrderDetails,
  type Order as OrderResource,
  paymentView,
  type Rendered,
  toUnits,
  withoutUndefined,
} from '@cpg/contracts';
import { itemTotals, roundedUp } from './pricing.ts';
import { orderRefundView } from './refund-order.ts';
import {
  applicableMinor,
  depositsOfOrder,
  dueAt,
  orderDueBackMinor,
  type ExistingOrder,
  isReturned,
  isSettledWith,
  remainingMinor,
  shortfallMinor,
  takesPayments,
} from './state.ts';
import { unfitReason } from './unfit-money.ts';

const views = new WeakMap<ExistingOrder, OrderResource>();

/** The Order resource of the API. It is made once for the answer, the row and the message of an event: never change
 *  it. */
export const orderView = (order: ExistingOrder): OrderResource => {
  const known = views.get(order);
  if (known) return known;
  const view = viewOf(order);
  views.set(order, view);
  return view;
};

/** The JSON text of the Order resource. */
export const orderText = (order: ExistingOrder): string => JSON.stringify(orderView(order));

const viewOf = (order: ExistingOrder): OrderResource => {
  const instructions: readonly AssignedInstruction[] = order.instructions;
  const page = instructions.find((instruction) => instruction.rail === 'gateway_pay');
  const shortfall = shortfallMinor(order);
  const dueBack = orderDueBackMinor(order);
  const rendered: Rendered<OrderResource, typeof OrderDetails.shown> = {
    id: order.orderId,
    merchant_id: order.merchantId,
    items: [...order.items],
    item_totals: itemTotals(order.items),
    payments: order.payments.map(paymentView),
    refunds: order.refunds.length > 0 ? order.refunds.map((refund) => orderRefundView(refund, order)) : undefined,
    status: order.status,
    status_reason: order.statusReason,
    total_amount: fromMinor(order.totalMinor, order.decimals),
    remaining_amount: fromMinor(remainingMinor(order), order.decimals),
    shortfall_amount: shortfall > 0n ? fromMinor(shortfall, order.decimals) : undefined,
    due_back_amount: dueBack > 0n ? fromMinor(dueBack, order.decimals) : undefined,
    underpayment_tolerance_percent: order.toleranceBps > 0 ? order.toleranceBps / 100 : undefined,
    currency: order.currency,
    rates: order.rates,
    capabilities: order.capabilities,
    deposit_instructions: instructions.map((instruction) => instructionView(instruction, order)),
    payment_reference: page?.paymentReference,
    payment_url: page?.paymentUrl,
    expiration_date: order.expiresAt,
    paid_at: order.paidAt,
    created_at: order.createdAt,
    updated_at: order.updatedAt,
  };
  return withoutUndefined({ ...rendered, ...OrderDetails.toShown(order) }) as OrderResource;
};

const instructionView = (instruction: AssignedInstruction, order: ExistingOrder): DepositInstruction => {
  const missing = missingMinor(order);
  const amount = fromMinor(missing, order.decimals);
  const expires_at = dueAt(order);
  if (instruction.rail === 'gateway_pay') {
    const { rail, currency, provider, paymentReference: payment_reference, paymentUrl, qrContent } = instruction;
    return {
      rail,
      currency,
      amount,
      provider,
      payment_reference,
      payment_url: paymentUrl,
      ...(takesPayments(order) && !isReturned(order) && { qr_content: qrContent ?? paymentUrl }),
      expires_at,
    };
  }
  const { rail, currency, network, chainId: chain_id, asset, assetLabel, address, decimals } = instruction;
  const { smallestPayableMinor } = instruction;
  const units = toUnits(missing, { scale: order.decimals, decimals });
  return {
    rail,
    currency,
    network,
    chain_id,
    asset,
    ...(assetLabel && { asset_label: assetLabel }),
    address,
    amount,
    amount_units: String(units),
    decimals,
    ...(takesPayments(order) && missing > 0n && { payment_uri: paymentUri({ ...instruction, units, amount }) }),
    required_confirmations: instruction.requiredConfirmations,
    ...(smallestPayableMinor && {
      smallest_payable_amount: fromMinor(BigInt(smallestPayableMinor), order.decimals),
    }),
    expires_at,
  };
};

/** The amount to ask for: the rest beside payments that are held or on their way, in a step that wallets take. Nothing
 *  of an order that the merchant refunded. */
const missingMinor = (order: ExistingOrder): bigint => {
  if (isReturned(order)) return 0n;
  const pending = order.payments.filter(
    (payment) => payment.status === 'received' && unfitReason(order, payment) === null,
  );
  const sum = pending.reduce((total, payment) => total + applicableMinor(order, payment), 0n);
  const missing = remainingMinor(order) - sum;
  if (missing <= 0n || isSettledWith(order, sum)) return 0n;
  return roundedUp(missing, stepOf(order));
};

const stepOf = (order: ExistingOrder): bigint =>
  depositsOfOrder(order)
    .map(({ payableStepMinor: step = '1' }) => BigInt(step))
    .reduce((largest, each) => (each > largest ? each : largest), 1n);
