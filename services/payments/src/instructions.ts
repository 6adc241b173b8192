import type { AssignedInstruction, InstructionsCall } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { Rail } from './rails/rail.ts';

/** Where to pay an order, on each of the rails it enables. Idempotent by order id. Throws `invalid_request` naming every rail that does
 *  not take its currency; then none was opened. */
export const instructionsFrom =
  (rails: readonly Rail[]) =>
  async ({
    order_id: orderId,
    merchant_id: merchantId,
    currency,
    rails: enabled,
  }: InstructionsCall): Promise<AssignedInstruction[]> => {
    const faults = enabled
      .filter((name) => !rails.some((rail) => rail.rail === name && rail.supports(currency)))
      .map((name) => ({ path: 'enable_rails', message: `${name} does not take ${currency} here` }));
    if (faults.length > 0) {
      throw new AppError('invalid_request', faults.map(({ path, message }) => `${path}: ${message}`).join('; '), {
        details: faults,
      });
    }
    const opened = await Promise.all(
      enabled.map((name) => rails.find((rail) => rail.rail === name)!.open({ orderId, merchantId, currency })),
    );
    return opened.flat();
  };
