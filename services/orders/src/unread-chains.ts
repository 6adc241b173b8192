import { depositsOf } from '@cpg/contracts';
import { isAppError, isTemporary } from '@cpg/core';
import type { CallContext, Logger } from '@cpg/runtime';
import type { PaymentsClient } from './clients/payments.ts';
import { isInGracePeriod } from './order/deadline.ts';
import type { ExistingOrder } from './order/state.ts';

/** Whether an order that is due has to wait: one of its chains may still show a payment made before its deadline. It
 *  waits for at most 24 hours, and then ends with an alarm. */
export type AwaitsChains = (order: ExistingOrder, context: CallContext) => Promise<boolean>;

export interface UnreadChainsOptions {
  readonly payments: Pick<PaymentsClient, 'chainsWaiting'>;
  readonly now: () => Date;
  readonly log: Logger;
  /** Counts an order that ended although this network was not read. */
  readonly countUnread?: (network: string) => void;
}

/** How long an answer holds for later deadlines: many orders wait when a chain stops. */
const ANSWER_HOLDS_MS = 500;

export const unreadChains = ({ payments, now, log, countUnread }: UnreadChainsOptions): AwaitsChains => {
  /** By network: it was not read past `deadline`, asked at `askedMs`. */
  const unread = new Map<string, { readonly deadline: string; readonly askedMs: number }>();
  const isKnownUnread = (network: string, deadline: string): boolean => {
    const known = unread.get(network);
    return known !== undefined && known.deadline <= deadline && now().getTime() < known.askedMs + ANSWER_HOLDS_MS;
  };

  const ask = async (networks: readonly string[], deadline: string, context: CallContext) => {
    try {
      return await payments.chainsWaiting({ networks: [...networks], at: deadline }, context);
    } catch (error) {
      // Payments of an earlier version watches no chains.
      if (isAppError(error, 'not_found')) return [];
      if (isTemporary(error)) return networks;
      throw error;
    }
  };

  return async (order, context) => {
    const { orderId, expiresAt: deadline } = order;
    const networks = networksOf(order);
    if (networks.length === 0) return false;
    const known = networks.filter((network) => isKnownUnread(network, deadline));
    const waitingFor = known.length > 0 ? known : await ask(networks, deadline, context);
    if (known.length === 0)
      for (const network of waitingFor) unread.set(network, { deadline, askedMs: now().getTime() });
    if (waitingFor.length === 0) return false;
    if (isInGracePeriod(order, now())) return true;
    for (const network of waitingFor) countUnread?.(network);
    log.error({ orderId, networks: waitingFor }, 'an order ends although its chains were not read past its deadline');
    return false;
  };
};

const networksOf = ({ instructions }: ExistingOrder): string[] => [
  ...new Set(instructions.flatMap(depositsOf).map(({ network }) => network)),
];
