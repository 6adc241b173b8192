import type { AssignedInstruction, InstructionsCall, PaymentRail } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { Rail } from './rails/rail.ts';

export type Rails = Readonly<Record<PaymentRail, Rail>>;

/** Assigns deposit instructions to an order on each of its enabled rails. Idempotent by order id. Throws
 *  `invalid_request` naming every rail that does not support the currency, before anything is assigned. */
export const instructionsFrom =
  (rails: Rails) =>
  async ({
    order_id: orderId,
    merchant_id: merchantId,
    currency,
    rails: enabled,
  }: InstructionsCall): Promise<AssignedInstruction[]> => {
    const faults = enabled
      .filter((name) => !rails[name].supports(currency))
      .map((name) => ({ path: 'enable_rails', message: `${name} does not support ${currency}` }));
    if (faults.length > 0) {
      throw new AppError('invalid_request', faults.map(({ path, message }) => `${path}: ${message}`).join('; '), {
        details: faults,
      });
    }
    const assigned = await Promise.all(
      enabled.map((name) => rails[name].assignInstructions({ orderId, merchantId, currency })),
    );
    return assigned.flat();
  };
