import { type AssetTable, payableStep } from '@cpg/assets';
import type { CallContext } from '@cpg/platform';
import type { OrderCommands } from '../commands/order-commands.ts';
import type { OutcomesLimits } from '../commands/payments-client.ts';
import { type FindPayables, recordWith } from '../create/payables.ts';
import type { OrderCommand } from '../order/command.ts';
import { awaitsConfirmation, deadlineAfterRenewal, earlierOf, plusMinutes, renewsWhenDue } from '../order/deadline.ts';
import { dueAt, type ExistingOrder } from '../order/state.ts';
import { quoteItems, type RateProvider } from '../rates/rates.ts';
import type { AwaitsChains } from './unread-chains.ts';

/** Does what the clock requires: expires or renews the order, or finds deposit instructions again, and sends payments
 *  the outcomes. Null if nothing is due. */
export type RunDue = (order: ExistingOrder, context: CallContext) => Promise<ExistingOrder | 'awaits chains' | null>;

export interface RunDueOptions {
  readonly commands: OrderCommands;
  readonly payablesOf: FindPayables;
  readonly awaitsChains: AwaitsChains;
  readonly rates: RateProvider;
  /** How long rates may be locked, from their quote. */
  readonly rateLockMaxMinutes: number;
  readonly assets: AssetTable;
  readonly now: () => Date;
  /** The time by which orders end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
}

/** A timer serves many orders: payments that does not answer must not hold up the others. */
const LIMITS: OutcomesLimits = { timeoutMs: 3_000, connectRetryMs: 0 };

export const dueOrders = (options: RunDueOptions): RunDue => {
  const { commands, payablesOf, awaitsChains, now, endsBy } = options;
  return async (order, context) => {
    const at = endsBy();
    if (at.toISOString() >= dueAt(order)) {
      if (awaitsConfirmation(order, at)) return null;
      if (await awaitsChains(order, context)) return 'awaits chains';
      const command = renewsWhenDue(order)
        ? await renewal(order, options)
        : { type: 'ExpireOrder' as const, at: now() };
      return commands.runAndNotify(order.orderId, command, context, { limits: LIMITS });
    }
    if (order.status !== 'initialized') return null;
    const payables = await payablesOf(order, context);
    if (!payables) return null;
    const command = { type: 'InstructOrder', instructions: payables.instructions, at: now() } as const;
    return recordWith(payables, (beforeAppend) =>
      commands.runAndNotify(order.orderId, command, context, { limits: LIMITS, beforeAppend }),
    );
  };
};

const renewal = async (
  order: ExistingOrder,
  { rates, rateLockMaxMinutes, assets, now }: RunDueOptions,
): Promise<OrderCommand> => {
  const at = now();
  const ratesExpireAt = earlierOf(deadlineAfterRenewal(order, at), plusMinutes(at, rateLockMaxMinutes));
  const { items, currency, decimals } = order;
  const lock = { now: at, expiresAt: ratesExpireAt, decimals, stepMinor: payableStep(assets, currency, decimals) };
  return { type: 'RenewOrder', ...(await quoteItems(rates, items, currency, lock)), ratesExpireAt, at };
};
