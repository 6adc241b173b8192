import { type Asset, readAssets } from '@cpg/assets';
import { AppError, type PaymentEvent, type RegisterPaymentCall, scalesOf } from '@cpg/contracts';
import { createLogger, type Logger } from '@cpg/platform';
import type { IsLeader } from '@cpg/platform/postgres';
import type { ChainKind } from '../chains/chain-kind.ts';
import type { Transfer, Watched } from '../chains/chain-source.ts';
import type { ChainStore } from '../chains/reading/chain-store.ts';
import type { Quorum } from '../chains/reading/seen-transfer.ts';
import { chainWatcher } from '../chains/reading/watcher.ts';
import { reporter } from '../chains/reporting/reporter.ts';
import { paymentChanges } from '../matching/changes.ts';
import { paymentCommands } from '../matching/commands.ts';
import type { NotifyOrder } from '../matching/notify-order.ts';
import { registerPayments } from '../matching/register.ts';
import type { Outcome } from '../payment/command.ts';
import { FeeSchedule } from '../payment/fees.ts';
import { paymentIdOf } from '../payment/identity.ts';
import { paymentDecider } from '../payment/payment.ts';
import { type ExistingPayment, exists } from '../payment/state.ts';
import { dyingChainStore, memoryChainStore, memoryChainStream } from './jest-chain-memory.ts';
import { MERCHANT } from './jest-fixtures.ts';
import { memoryHandler } from './jest-memory.ts';
import { crashes, type SimulatedChain, simulatedChain } from './jest-simulated-chain.ts';

const ASSETS = readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 });

export const USDC = ASSETS.assets.find(({ currency }) => currency === 'USDC')!;
export const COIN = 'eip155:31337/slip44:60';
export const KIND: ChainKind = {
  windowBlocks: 10,
  mostConfirmations: 8,
  graceBlocks: 6,
  startBlocks: 10,
  blocksAhead: 4,
  pollMs: 10,
  settleMs: 0,
  hasOrderedTimes: true,
};
const FEES = FeeSchedule.parse({
  version: '1',
  rails: { gateway_pay: { percent_bps: 50 }, crypto_deposit: { percent_bps: 100 } },
});

const watchedBut = (retired: ReadonlySet<string>): Watched => ({
  size: 1,
  watchedAmong: async (addresses) =>
    new Set(addresses.filter((address) => address.startsWith('address') && !retired.has(address))),
});

/** A transfer of `units` to an address, by a transaction of its own. */
export const transferOf = (id: string, changes: Partial<Transfer> = {}): Transfer => ({
  id: `${id}:0`,
  txHash: id,
  address: `address-of-${id}`,
  asset: USDC.id,
  units: 1_000_000n,
  ...changes,
});

/** Payments in memory. Their orders apply what is confirmed, if not told otherwise. */
const memoryPayments = (now: () => Date, log: Logger) => {
  const events: PaymentEvent[] = [];
  const handler = memoryHandler(paymentDecider, ({ event }) => void events.push(event));
  const commands = paymentCommands({ handler, project: async () => {} });
  let isHeld = false;
  let isPaid = false;
  const notifyOrder: NotifyOrder = async (payment, context) => {
    const { paymentId, status, confirmedAt, amountMinor, sighting } = payment;
    if (isHeld || status !== 'received' || confirmedAt === undefined) return { payment, order: null };
    const outcome: Outcome = isPaid
      ? { status: 'orphan', orphanReason: 'already_paid', sighting, at: now() }
      : { status: 'applied', appliedMinor: amountMinor, unappliedMinor: 0n, sighting, at: now() };
    return { payment: await commands.run(paymentId, { type: 'RecordOutcome', outcome }, context), order: null };
  };
  return {
    events,
    register: registerPayments({
      commands,
      notifyOrder,
      findPayable: async () => ({
        orderId: 'ord_00000000000000000000000001',
        merchantId: MERCHANT,
        rail: 'crypto_deposit',
      }),
      findOrder: async () => ({ merchantId: MERCHANT }),
      hadFailedAtDeletion: async (_orderId, paymentId) => handler.lastOf(paymentId).status === 'failed',
      fees: FEES,
      scales: scalesOf({ CAZ_DECIMALS: 18 }),
      now,
    }),
    fail: paymentChanges({ commands, notifyOrder, table: ASSETS, now, log }).fail,
    /** The order holds confirmed payments until more money comes. */
    setHeld: (isHeldNow: boolean) => void (isHeld = isHeldNow),
    /** The orders are paid: confirmed payments become orphans. */
    setPaid: (isPaidNow: boolean) => void (isPaid = isPaidNow),
    all: (): ExistingPayment[] => handler.states().filter(exists),
    /** Deletes a payment, as with its order. */
    remove: ({ id }: Pick<Transfer, 'id'>) => handler.tombstone(paymentIdOf('crypto_deposit', `eip155:31337/${id}`)),
    of: ({ id }: Pick<Transfer, 'id'>): ExistingPayment | undefined => {
      const payment = handler.lastOf(paymentIdOf('crypto_deposit', `eip155:31337/${id}`));
      return exists(payment) ? payment : undefined;
    },
  };
};

/** Processes that watch one chain, one after another, with payments and tables in memory. */
export const chainProcesses = (
  chain: SimulatedChain,
  {
    required = 2,
    kind = KIND,
    recheckDepth = 1,
    quorum = () => 1,
    openAddresses = async () => [],
    store,
    assets = [USDC],
  }: {
    required?: number | ((amountMinor: bigint) => number);
    kind?: ChainKind;
    recheckDepth?: number;
    quorum?: Quorum;
    openAddresses?: () => Promise<readonly string[]>;
    store?: ChainStore;
    assets?: readonly Asset[];
  } = {},
) => {
  const crash = crashes();
  const memory = memoryChainStore(kind.windowBlocks);
  const tables = { ...memory, store: dyingChainStore(store ?? memory.store, crash) };
  const recorded = memoryChainStream(crash);
  const log = createLogger({ name: 'chains', level: process.env.LOG_LEVEL ?? 'silent' });
  let passedMs = 0;
  const retired = new Set<string>();
  let isBehind = false;
  let ordersFailure: (call: RegisterPaymentCall) => Error | null = () => null;
  let refused = 0;
  let beforeFail = Promise.resolve();
  const now = () => new Date(chain.now().getTime() + passedMs);
  const payments = memoryPayments(now, log);
  const counted = { missed: [] as number[], misread: [] as number[], unexplained: 0 };
  const start = (isLeader: IsLeader = () => true) =>
    chainWatcher({
      network: 'simulated',
      kind,
      source: chain.source,
      store: tables.store,
      stream: recorded.stream,
      now,
      nowMs: () => now().getTime(),
      log,
      watched: {
        refresh: async () => {
          if (isBehind) throw new AppError('dependency_unavailable', 'the read models are not complete');
          return watchedBut(retired);
        },
      },
      assets: new Set([USDC.id, COIN]),
      recheckDepth,
      quorum,
      coin: COIN,
      openAddresses,
      count: {
        missed: (node) => void counted.missed.push(node),
        misread: (node) => void counted.misread.push(node),
        unexplained: () => void (counted.unexplained += 1),
      },
      report: reporter({
        network: 'simulated',
        chainId: 'eip155:31337',
        assets,
        store: tables.store,
        log,
        register: (...call) => {
          const failure = ordersFailure(call[0]);
          if (failure) throw failure;
          return crash.write(() => payments.register(...call));
        },
        fail: (...call) =>
          crash.write(async () => {
            await beforeFail;
            return payments.fail(...call);
          }),
        reportRefund: async () => null,
        quorum,
        isLeader,
        isFinal: chain.source.isFinal,
        countRefused: () => void (refused += 1),
        requiredConfirmations: async ({ amountMinor }) =>
          typeof required === 'number' ? required : required(amountMinor),
      }),
    });
  let watcher = start();
  return {
    tables,
    recorded,
    crash,
    events: payments.events,
    counted,
    now,
    /** The process ends, and another one takes its place. */
    restart: () => void (watcher = start()),
    readOn: () => watcher.readOn(),
    progress: () => watcher.progress(),
    another: start,
    /** Delays each failure after it was announced in the tables. */
    delayFailures: (until: Promise<void>) => void (beforeFail = until),
    setHeld: payments.setHeld,
    /** The address is not watched any more. */
    retire: (address: string) => void retired.add(address),
    setPaid: payments.setPaid,
    /** The read model of payables cannot say which addresses are watched. */
    setBehind: (isBehindNow: boolean) => void (isBehind = isBehindNow),
    /** The error of each report until the next call of this function; null for none. */
    setOrdersFailure: (failure: typeof ordersFailure) => void (ordersFailure = failure),
    refused: () => refused,
    passMs: (ms: number) => void (passedMs += ms),
    passHours: (hours: number) => void (passedMs += hours * 3_600_000),
    payments: payments.all,
    paymentOf: payments.of,
    removePayment: payments.remove,
  };
};

export type ChainProcesses = ReturnType<typeof chainProcesses>;

/** A chain of three blocks, and a process that has read it. */
export const watchNewChain = async (options: Parameters<typeof chainProcesses>[1] = {}) => {
  const chain = simulatedChain();
  chain.mineMany(3);
  const watching = chainProcesses(chain, options);
  await watching.readOn();
  return { chain, watching };
};
