import type { Asset } from '@cpg/assets';
import { fromMinor, fromUnits, isAppError, type Payment, type RegisterPaymentCall } from '@cpg/contracts';
import { groupBy, type Logger, newContext } from '@cpg/platform';
import type { IsLeader } from '@cpg/platform/postgres';
import type { PaymentChanges } from '../../matching/changes.ts';
import { isRefusedForGood, type RegisterPayment } from '../../matching/register.ts';
import { paymentIdOf, providerIdAfterDeletion } from '../../payment/identity.ts';
import type { ReportRefundTransfer } from '../../refunds/refund-reports.ts';
import { type BlockRef, ChainNodeError, type ChainSource } from '../chain-source.ts';
import type { ChainStore, OpenTransfer, ReportChange } from '../reading/chain-store.ts';
import { confirmationsOf, type Quorum, type Report, type SeenTransfer } from '../reading/seen-transfer.ts';
import type { ReadSoFar, ReportTransfers } from '../reading/watcher.ts';
import { failureAfter, failureReasonOf, isRetryDue, isSameReport, reportOf } from './report.ts';

export interface ReporterOptions {
  readonly network: string;
  /** CAIP-2. */
  readonly chainId: string;
  readonly assets: readonly Asset[];
  readonly store: Pick<ChainStore, 'open' | 'saveReports'>;
  readonly register: RegisterPayment;
  readonly fail: PaymentChanges['fail'];
  readonly reportRefund: ReportRefundTransfer;
  /** Confirmations that a transfer needs before its payment is confirmed. */
  readonly requiredConfirmations: RequiredConfirmations;
  /** How many nodes must have shown a transfer before it is confirmed, by its asset and amount. */
  readonly quorum: Quorum;
  /** Whether a block is final. Absent where only depth counts. */
  readonly isFinal?: ChainSource['isFinal'];
  /** Whether this process still reads the chain. If not, it makes no more reports: they are outdated. */
  readonly isLeader: IsLeader;
  /** Counts a report that payments can never record. */
  readonly countRefused: () => void;
  readonly log: Logger;
}

export type RequiredConfirmations = (transfer: {
  readonly asset: Asset;
  readonly amountMinor: bigint;
  readonly address: string;
}) => Promise<number>;

interface DueReport {
  readonly transfer: SeenTransfer;
  readonly required: number;
  readonly report: Report;
}

const BATCH_REPORTS = 64;
/** Reports in one call about one asset at one address. Anybody can send thousands of transfers to an address: they must
 *  not hold up the money of others, nor the reading. */
const MAX_AT_ONE_ADDRESS = 32;

/** Reports open transfers to payments: those that may still change, or are not reported yet. For each transfer it
 *  stores the report that it makes as `pending`, and once payments has recorded it, as `reported`. Resolves to the
 *  number of transfers whose report fails: each has a time for its next attempt. */
export const reporter = (options: ReporterOptions): ReportTransfers => {
  const { store, isLeader } = options;
  const send = sender(options);
  return async (readSoFar) => {
    const open = await store.open();
    const isDue = ({ failure }: OpenTransfer) => !failure?.retryAt || isRetryDue(failure.retryAt, readSoFar.now);
    const failing = new Set(open.filter((transfer) => !isDue(transfer)).map(({ id }) => id));
    const save = async (changes: readonly ReportChange[]) => {
      await store.saveReports(changes);
      for (const { id, failure } of changes) if (failure?.retryAt) failing.add(id);
    };
    const cached = { ...options, requiredConfirmations: askedOnce(options.requiredConfirmations) };
    const found: DueReport[] = [];
    /** Transfers whose due report cannot be computed, or can be computed again. */
    const failureChanges: ReportChange[] = [];
    for (const transfer of open.filter(isDue)) {
      const each = await dueOf(cached, transfer, readSoFar);
      if (each && 'report' in each) found.push(each);
      else if (each) failureChanges.push(each);
    }
    if (failureChanges.length > 0 && isLeader()) await save(failureChanges);
    const due = largestAtEachAddress(found);
    for (let start = 0; start < due.length && isLeader(); start += BATCH_REPORTS) {
      const batch = due.slice(start, start + BATCH_REPORTS);
      // A crash after a report was made must not look like a report that was never made.
      await store.saveReports(
        batch.map(({ transfer, required, report }) => ({ ...transfer, required, pending: report })),
      );
      await save(await sendByAddress(batch, (each) => send(each, readSoFar)));
    }
    return failing.size;
  };
};

/** Caches the answers of one call: transfers to one address have the same sum, so they need the same answer. */
const askedOnce = (ask: RequiredConfirmations): RequiredConfirmations => {
  const answers = new Map<string, Promise<number>>();
  return (transfer) => {
    const key = `${transfer.asset.id} ${transfer.address} ${transfer.amountMinor}`;
    const answer = answers.get(key) ?? ask(transfer);
    answers.set(key, answer);
    return answer;
  };
};

/** The due reports of the largest transfers at each address, so that dust delays no payment. The others stay due: the
 *  next call makes them. */
const largestAtEachAddress = (due: readonly DueReport[]): readonly DueReport[] => {
  const groups = groupBy(due, ({ transfer }) => `${transfer.asset} ${transfer.address}`);
  const chosen = new Set([...groups.values()].flatMap((group) => group.toSorted(byUnits).slice(0, MAX_AT_ONE_ADDRESS)));
  return due.filter((each) => chosen.has(each));
};

const byUnits = ({ transfer: one }: DueReport, { transfer: other }: DueReport): number =>
  one.units === other.units ? 0 : one.units > other.units ? -1 : 1;

/** The report that is due about a transfer, or null if none is. A change to store if computing it fails, or succeeds
 *  after a failure. */
const dueOf = async (
  options: ReporterOptions,
  transfer: OpenTransfer,
  readSoFar: ReadSoFar,
): Promise<DueReport | ReportChange | null> => {
  try {
    const required = await requiredFor(options, transfer);
    const quorum = options.quorum({ asset: transfer.asset, units: transfer.unitsAtAddress });
    const requiredNow = await requiredUntilFinal(options, transfer, readSoFar, required);
    const report = reportOf(transfer, readSoFar, { required: requiredNow, quorum });
    if (report && (transfer.pending || !isSameReport(report, transfer.reported))) return { transfer, required, report };
    return transfer.failure && { ...transfer, failure: null };
  } catch (error) {
    options.log.warn({ network: options.network, transfer: transfer.id, err: error }, WILL_RETRY);
    return { ...transfer, failure: failureAfter(transfer.failure, error, readSoFar.now) };
  }
};

const WILL_RETRY = 'a transfer could not be reported, retrying';

/** Sends reports about one address one after another, because they belong to one order. Resolves to the changes to
 *  store. */
const sendByAddress = async (
  batch: readonly DueReport[],
  send: (due: DueReport) => Promise<ReportChange | null>,
): Promise<ReportChange[]> => {
  const byAddress = groupBy(batch, ({ transfer }) => transfer.address);
  const made: ReportChange[] = [];
  const sendAll = async (dues: readonly DueReport[]) => {
    for (const due of dues) {
      const change = await send(due);
      if (change) made.push(change);
    }
  };
  await Promise.all([...byAddress.values()].map(sendAll));
  return made;
};

/** Makes one report. Resolves to the change to store: the report, its failure or its refusal. Resolves to null once
 *  another process reads the chain. */
const sender =
  ({ network, chainId, assets, register, fail, reportRefund, isLeader, countRefused, log }: ReporterOptions) =>
  async ({ transfer, required, report }: DueReport, { height, now }: ReadSoFar): Promise<ReportChange | null> => {
    const { id, txHash, block, reported, pending, failure } = transfer;
    const done = (made: Report): ReportChange => ({ id, required, reported: made, pending: null, failure: null });
    const where = { network, txHash, transfer: id, block: block?.height };
    const context = newContext('service:payments');
    const providerId = `${chainId}/${id}`;
    const beforeAppend = () => {
      if (!isLeader()) throw new Error('another process reads the chain now');
    };
    try {
      const ofRefund = await reportRefund(transfer, report, { beforeAppend });
      if (ofRefund) return done(ofRefund);
      if (report.status === 'failed') {
        const reason = failureReasonOf(transfer);
        const failAs = (id: string) =>
          fail(paymentIdOf('crypto_deposit', id), { failure_reason: reason }, context, { beforeAppend });
        const { payment } = await failAs(providerId).catch((error: unknown) => {
          if (!isAppError(error, 'not_found')) throw error;
          return failAs(providerIdAfterDeletion(providerId));
        });
        log.warn(
          { ...where, paymentId: payment.id, reason },
          'the chain does not have the money of a payment any more',
        );
        return done(report);
      }
      const call = callOf(assets, transfer, report, providerId, height);
      if (!call) {
        log.warn(where, 'a transfer is worth less than the smallest amount of its currency');
        return done({ ...report, status: 'ignored' });
      }
      const { payment } = await register(call, context, { beforeAppend });
      if (report.status !== reported?.status)
        log.debug({ ...where, paymentId: payment.id, status: report.status }, 'transfer reported');
      return done(madeOf(report, [reported, pending], payment.status));
    } catch (error) {
      if (!isLeader()) return null;
      const failed = failureAfter(failure, error, now);
      if (!isRefusedForGood(error)) {
        log.warn({ ...where, err: error }, WILL_RETRY);
        return { id, required, reported, pending: report, failure: failed };
      }
      if (report.status === 'failed' && isAppError(error, 'not_found')) return done(report);
      log.error({ ...where, err: error }, 'a transfer cannot be recorded as a payment: an operator has to look at it');
      countRefused();
      return { ...done({ ...report, status: 'refused' }), failure: { ...failed, retryAt: null } };
    }
  };

/** The report to store. A reorganization leaves an applied payment confirmed, even without a block. A payment that is
 *  not applied needs its confirmations again; so does an orphan in a new block, as its order may still apply it. */
const madeOf = (report: Report, earlier: readonly (Report | null)[], status: Payment['status']): Report => {
  const isHeld = status === 'received';
  if (report.block === null && isHeld) return { ...report, status: 'received' };
  const wasConfirmed = earlier.some((each) => each?.status === 'confirmed');
  const needsConfirmations = isHeld || (status === 'orphan' && report.block !== null);
  return wasConfirmed && !needsConfirmations ? { ...report, status: 'confirmed' } : report;
};

const assetOf = (assets: readonly Asset[], id: string): Asset => {
  const asset = assets.find((each) => each.id === id);
  if (!asset) throw new Error(`the file of assets lacks ${id}: add it again`);
  return asset;
};

/** Minor units of the currency that `units` of the asset on its chain are worth, rounded down. */
export const minorOf = ({ currencyDecimals: scale, decimals }: Asset, units: bigint): bigint =>
  fromUnits(units, { scale, decimals }).minor;

/** The confirmations that a transfer needs, by all money of the asset at its address: splitting a payment does not
 *  lower the number. Later transfers can raise it. */
const requiredFor = async (
  { assets, requiredConfirmations }: ReporterOptions,
  { asset: id, units, unitsAtAddress, address, required: known, minConfirmations = 1 }: OpenTransfer,
): Promise<number> => {
  const asset = assetOf(assets, id);
  if (known !== null && unitsAtAddress === units) return known;
  const required = await requiredConfirmations({ asset, amountMinor: minorOf(asset, unitsAtAddress), address });
  return Math.max(required, minConfirmations, known ?? 0);
};

/** The same, but Infinity while a large amount waits for its block to be final. */
const requiredUntilFinal = async (
  options: ReporterOptions,
  transfer: OpenTransfer,
  { height }: ReadSoFar,
  required: number,
): Promise<number> => {
  const asset = assetOf(options.assets, transfer.asset);
  const { block, unitsAtAddress } = transfer;
  if (!block || confirmationsOf(transfer, height) < required) return required;
  const { finalizedFromMinor } = asset;
  const needsFinal = finalizedFromMinor !== undefined && minorOf(asset, unitsAtAddress) >= finalizedFromMinor;
  return needsFinal && !(await isFinal(options, block)) ? Infinity : required;
};

/** Whether the nodes call a block final. False, so that the payment waits, while no node answers that. */
const isFinal = async (
  { isFinal: ask = async () => true, network, log }: ReporterOptions,
  block: BlockRef,
): Promise<boolean> => {
  try {
    return await ask(block);
  } catch (error) {
    if (!(error instanceof ChainNodeError)) throw error;
    log.warn({ network, block: block.height, err: error }, 'no node says whether a block is final: a payment waits');
    return false;
  }
};

/** The report as a call to payments. Null for less than one minor unit. `height` is the last block that was read. */
const callOf = (
  assets: readonly Asset[],
  transfer: SeenTransfer,
  { status, block }: Report,
  providerId: string,
  height: number,
): RegisterPaymentCall | null => {
  const asset = assetOf(assets, transfer.asset);
  const { currency, currencyDecimals, label, ifSent, isRetired } = asset;
  const minor = minorOf(asset, transfer.units);
  if (minor === 0n) return null;
  return {
    address: transfer.address,
    rail: 'crypto_deposit',
    provider_id: providerId,
    amount: fromMinor(minor, currencyDecimals),
    currency,
    asset: asset.id,
    ...(label && { asset_label: label }),
    // Money in an asset that orders do not take, or no longer, becomes an orphan.
    ...((ifSent === 'orphan' || isRetired) && { credited: false }),
    confirmed: status === 'confirmed' && block !== null,
    tx_hash: transfer.txHash,
    seen_at: transfer.seenAt.toISOString(),
    ...(transfer.block && { block: transfer.block }),
    confirmations: confirmationsOf(transfer, height),
  };
};
