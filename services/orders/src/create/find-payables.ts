import { ADDRESS_LEASE_MS } from '@cpg/contracts';
import { steadyNowMs } from '@cpg/platform';
import type { PaymentsClient } from '../commands/payments-client.ts';
import { type FindPayables, leaseUntil } from './payables.ts';
import type { Stock } from './stock.ts';

/** Takes payables from the stock. Requests them from payments when the stock has none, or when a provider has to
 *  register the order. */
export const findPayables =
  ({
    stock,
    payments,
    nowMs = steadyNowMs,
  }: {
    /** Absent: payments assigns all instructions. */
    readonly stock?: Stock;
    readonly payments: Pick<PaymentsClient, 'instructions'>;
    readonly nowMs?: () => number;
  }): FindPayables =>
  async (order, context) => {
    const taken = stock?.take(order);
    if (taken) return taken;
    const { orderId, merchantId, currency, rails, totalMinor } = order;
    const sentAtMs = nowMs();
    const answer = await payments.instructions(
      { order_id: orderId, merchant_id: merchantId, currency, rails: [...rails], amount_minor: String(totalMinor) },
      context,
    );
    if (!answer) return undefined;
    const requireLease = leaseUntil(sentAtMs + ADDRESS_LEASE_MS, nowMs);
    return { instructions: answer.instructions, requireLease, putBack: () => {} };
  };
