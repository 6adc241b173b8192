import { depositsOf, type RecordedDeposit } from '@cpg/contracts';
import { isTemporary } from '@cpg/core';
import { type CallContext, type Logger, steadyNowMs } from '@cpg/runtime';
import type { PaymentsClient } from './clients/payments.ts';
import { isInGracePeriod } from './order/deadline.ts';
import { dueAt, type ExistingOrder } from './order/state.ts';

/** Whether an order that is due has to wait: one of its chains may still show a payment made before its deadline, or
 *  payments says nothing about them. It waits for at most 24 hours, and then ends with an alarm. After a start or a
 *  pause of this process, it also waits until each chain was read once: a stop of days is no time to pay in. */
export type AwaitsChains = (order: ExistingOrder, context: CallContext) => Promise<boolean>;

export interface UnreadChainsOptions {
  readonly payments: Pick<PaymentsClient, 'chainsWaiting'>;
  readonly now: () => Date;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  readonly log: Logger;
  /** Counts an order that ended although this network was not read, or a deposit there not recorded. */
  readonly countUnread?: (network: string) => void;
}

/** How long an answer holds for later deadlines: many orders wait when a chain stops. */
const ANSWER_HOLDS_MS = 500;
/** An order that waits is looked at once a minute: without a question for so long, this process stood still. */
const PAUSE_MS = 5 * 60_000;
/** How long after a start or a pause a chain may stay unread. */
const FIRST_READING_MS = 24 * 60 * 60_000;

export const unreadChains = ({
  payments,
  now,
  nowMs = steadyNowMs,
  log,
  countUnread,
}: UnreadChainsOptions): AwaitsChains => {
  /** By network: it was not read past `deadline`, asked at `askedMs`. */
  const unread = new Map<string, { readonly deadline: string; readonly askedMs: number }>();
  const isKnownUnread = (network: string, deadline: string): boolean => {
    const known = unread.get(network);
    return known !== undefined && known.deadline <= deadline && nowMs() < known.askedMs + ANSWER_HOLDS_MS;
  };

  /** The networks that were read since a start or a pause. */
  let readSince = new Set<string>();
  let resumedMs = nowMs();
  let lastMs = resumedMs;
  const noticePause = (): void => {
    const ms = nowMs();
    if (ms - lastMs > PAUSE_MS) [resumedMs, readSince] = [ms, new Set()];
    lastMs = ms;
  };
  const awaitsFirstReading = (networks: readonly string[]): boolean =>
    nowMs() - resumedMs < FIRST_READING_MS && networks.some((network) => !readSince.has(network));

  /** The networks that an order waits for. Which ones were not read holds for other orders too. */
  const ask = async (deposits: readonly RecordedDeposit[], deadline: string, context: CallContext) => {
    const networks = [...new Set(deposits.map(({ network }) => network))];
    const addresses = [...new Set(deposits.map(({ address }) => address))];
    const askedMs = nowMs();
    const remember = (unreadOnes: readonly string[]) => {
      for (const network of unreadOnes) unread.set(network, { deadline, askedMs });
    };
    try {
      const answer = await payments.chainsWaiting({ networks, addresses, at: deadline }, context);
      const unreadOnes = answer.waiting_for.filter((network) => !answer.unreported?.includes(network));
      remember(unreadOnes);
      for (const network of networks) if (!unreadOnes.includes(network)) readSince.add(network);
      return answer.waiting_for;
    } catch (error) {
      if (!isTemporary(error)) log.warn({ err: error }, 'payments gave no usable answer about its chains');
      remember(networks);
      return networks;
    }
  };

  return async (order, context) => {
    const { orderId, instructions } = order;
    const deadline = dueAt(order);
    const deposits = instructions.flatMap(depositsOf);
    if (deposits.length === 0) return false;
    noticePause();
    const known = deposits.map(({ network }) => network).filter((network) => isKnownUnread(network, deadline));
    const waitingFor = known.length > 0 ? [...new Set(known)] : await ask(deposits, deadline, context);
    if (waitingFor.length === 0) return false;
    if (isInGracePeriod(order, now()) || awaitsFirstReading(waitingFor)) return true;
    for (const network of waitingFor) countUnread?.(network);
    log.error(
      { orderId, networks: waitingFor },
      'an order ends although its chains were not read past its deadline, or a deposit at its address was not recorded',
    );
    return false;
  };
};
