import { depositsOf, isTemporary, outsideReferenceOf, type RecordedDeposit } from '@cpg/contracts';
import { type CallContext, type Logger, steadyNowMs } from '@cpg/platform';
import type { PaymentsClient } from '../commands/payments-client.ts';
import { hasUnconfirmedInTime, isInGracePeriod } from '../order/deadline.ts';
import { dueAt, type ExistingOrder } from '../order/state.ts';

/** Whether an order that is due has to wait: one of its chains or outside providers may still show a payment made
 *  before its deadline, or payments says nothing about them. It waits for at most 24 hours, and then ends with an
 *  alarm. After a start or a pause of this process, it also waits until each chain was read once and each of its
 *  providers has answered, and an hour for the confirmation of a payment made in time: a stop of days is no time to pay
 *  in. */
export type AwaitsChains = (order: ExistingOrder, context: CallContext) => Promise<boolean>;

export interface UnreadChainsOptions {
  readonly payments: Pick<PaymentsClient, 'chainsWaiting' | 'providersWaiting'>;
  readonly now: () => Date;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  readonly log: Logger;
  /** Counts an order that ended although this network was not read, a deposit there not recorded, or this provider did
   *  not answer. */
  readonly countUnread?: (network: string) => void;
}

/** How long an answer holds for later deadlines: many orders wait when a chain stops. */
const ANSWER_HOLDS_MS = 500;
/** An order that waits is looked at once a minute: without a question for so long, this process stood still. */
const PAUSE_MS = 5 * 60_000;
/** How long after a start or a pause a chain may stay unread, and a provider silent. */
const FIRST_READING_MS = 24 * 60 * 60_000;
/** How long after a start or a pause a payment that was seen in time may stay unconfirmed. */
const FIRST_CONFIRMATION_MS = 60 * 60_000;

export const unreadChains = ({
  payments,
  now,
  nowMs = steadyNowMs,
  log,
  countUnread,
}: UnreadChainsOptions): AwaitsChains => {
  const unread = recentlyUnread(nowMs);
  const readings = readingsSinceStart(nowMs);

  /** Which networks were not read holds for other orders too. */
  const askChains = async (
    deposits: readonly RecordedDeposit[],
    deadline: string,
    context: CallContext,
  ): Promise<WaitingFor> => {
    const networks = [...new Set(deposits.map(({ network }) => network))];
    const known = networks.filter((network) => unread.isKnown(network, deadline));
    if (networks.length === 0 || known.length > 0) return { networks: known, own: [] };
    const addresses = [...new Set(deposits.map(({ address }) => address))];
    const remember = unread.asking(deadline);
    try {
      const answer = await payments.chainsWaiting({ networks, addresses, at: deadline }, context);
      const unreadOnes = answer.waiting_for.filter((network) => !answer.unreported?.includes(network));
      remember(unreadOnes);
      readings.add(networks.filter((network) => !unreadOnes.includes(network)));
      return { networks: unreadOnes, own: answer.waiting_for.filter((network) => !unreadOnes.includes(network)) };
    } catch (error) {
      if (!isTemporary(error)) log.warn({ err: error }, 'payments gave no usable answer about its chains');
      remember(networks);
      return { networks, own: [] };
    }
  };

  /** A provider answers for each order on its own. That payments does not answer holds for other orders too. */
  const askProviders = async (
    references: readonly { readonly provider: string; readonly reference: string }[],
    deadline: string,
    context: CallContext,
  ): Promise<string[]> => {
    const providers = [...new Set(references.map(({ provider }) => provider))];
    const known = providers.filter((provider) => unread.isKnown(provider, deadline));
    if (providers.length === 0 || known.length > 0) return known;
    const remember = unread.asking(deadline);
    try {
      return (await payments.providersWaiting({ references: [...references] }, context)).waiting_for;
    } catch (error) {
      if (!isTemporary(error)) log.warn({ err: error }, 'payments gave no usable answer about its providers');
      remember(providers);
      return providers;
    }
  };

  return async (order, context) => {
    const { orderId, instructions } = order;
    const deadline = dueAt(order);
    const deposits = instructions.flatMap(depositsOf);
    const references = instructions.flatMap((instruction) => outsideReferenceOf(instruction) ?? []);
    if (deposits.length === 0 && references.length === 0) return false;
    readings.noticePause();
    const [{ networks, own }, providers] = await Promise.all([
      askChains(deposits, deadline, context),
      askProviders(references, deadline, context),
    ]);
    const waitingFor = [...networks, ...own, ...providers];
    if (waitingFor.length === 0)
      return (
        !isInGracePeriod(order, now()) && readings.sinceStartMs() < FIRST_CONFIRMATION_MS && hasUnconfirmedInTime(order)
      );
    if (isInGracePeriod(order, now()) || readings.awaitsFirst({ networks, own: [...own, ...providers] })) return true;
    for (const source of waitingFor) countUnread?.(source);
    log.error(
      { orderId, waitingFor },
      'an order ends although its chains or providers were not read past its deadline, or a deposit was not recorded',
    );
    return false;
  };
};

/** The networks and providers that were lately not read past a deadline. */
const recentlyUnread = (nowMs: () => number) => {
  const unread = new Map<string, { readonly deadline: string; readonly askedMs: number }>();
  return {
    isKnown: (source: string, deadline: string): boolean => {
      const known = unread.get(source);
      return known !== undefined && known.deadline <= deadline && nowMs() < known.askedMs + ANSWER_HOLDS_MS;
    },
    /** Begins a question. The returned function remembers the sources that the answer names. */
    asking: (deadline: string) => {
      const askedMs = nowMs();
      return (sources: readonly string[]): void => {
        for (const source of sources) unread.set(source, { deadline, askedMs });
      };
    },
  };
};

/** The networks that were read since a start or a pause of this process. */
const readingsSinceStart = (nowMs: () => number) => {
  let networksRead = new Set<string>();
  let startedMs = nowMs();
  let lastMs = startedMs;
  const sinceStartMs = (): number => nowMs() - startedMs;
  return {
    sinceStartMs,
    noticePause: (): void => {
      const ms = nowMs();
      if (ms - lastMs > PAUSE_MS) [startedMs, networksRead] = [ms, new Set()];
      lastMs = ms;
    },
    add: (networks: readonly string[]): void => networks.forEach((network) => networksRead.add(network)),
    /** A deposit that is not recorded, and a provider, are those of one order: no reading for another order counts. */
    awaitsFirst: ({ networks, own }: WaitingFor): boolean =>
      sinceStartMs() < FIRST_READING_MS && (own.length > 0 || networks.some((network) => !networksRead.has(network))),
  };
};

interface WaitingFor {
  /** Networks that were not read. */
  readonly networks: readonly string[];
  /** Sources that only this order waits for: networks with a deposit at its address, and providers. */
  readonly own: readonly string[];
}
