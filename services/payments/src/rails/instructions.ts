import { type Instructions, type InstructionsCall, invalidRequest, type PaymentRail } from '@cpg/contracts';
import type { Rail } from './rail.ts';

export type Rails = Readonly<Record<PaymentRail, Rail>>;

/** Assigns deposit instructions to an order on each of its enabled rails. Throws
 *  `invalid_request` naming every rail that does not support the currency, `amount_too_small` if a rail cannot take
 *  the amount, and `network_unavailable` if it cannot take it now, before anything is assigned. */
export const instructionsFrom =
  (rails: Rails) =>
  async ({
    order_id: orderId,
    merchant_id: merchantId,
    currency,
    rails: enabled,
    amount_minor: amountMinor,
  }: InstructionsCall): Promise<Instructions> => {
    const faults = enabled
      .filter((name) => !rails[name].supports(currency))
      .map((name) => ({ path: 'enable_rails', message: `${name} does not support ${currency}` }));
    if (faults.length > 0) throw invalidRequest(faults);
    const order = { orderId, merchantId, currency, amountMinor: BigInt(amountMinor) };
    for (const name of enabled) await rails[name].requirePayable(order);
    const assigned = await Promise.all(enabled.map((name) => rails[name].assignInstructions(order)));
    return { instructions: assigned.flat() };
  };
