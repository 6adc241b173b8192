import { createHash } from 'node:crypto';
import {
  decimalsIn,
  fromMinor,
  type Order,
  OrderEvent,
  type OrderStatus,
  type PaymentStatus,
  type RecordedEntry,
} from '@cpg/contracts';
import { type EventStoreDBClient, StreamDeletedError } from '@eventstore/db-client';
import canonicalize from 'canonicalize';
import { uuidToULID } from 'ulid';
import { z } from 'zod';

/** An order as computed here from its events, independently of the services. The API must show the same. */
export interface Ledger {
  readonly status: OrderStatus;
  readonly total_amount: string;
  readonly remaining_amount: string;
  readonly payments: ReadonlyArray<{ readonly id: string; readonly status: PaymentStatus; readonly applied: string }>;
}

/** `countedMinor` counts for the order. Refunds reduce the uncounted rest first, then the counted part. */
interface Money {
  readonly status: PaymentStatus;
  readonly paidMinor: bigint;
  readonly countedMinor: bigint;
  readonly refundedMinor: bigint;
}

/** Computes the ledger from the events of one order, oldest first. Throws if the first one is not OrderCreated. */
export const ledgerFromEvents = (events: readonly OrderEvent[]): Ledger => {
  const [created] = events;
  if (created?.type !== 'OrderCreated') throw new Error('the first event is not OrderCreated');
  let status: OrderStatus = created.data.status;
  let totalMinor = BigInt(created.data.totalMinor);
  const payments = new Map<string, Money>();
  const change = (ids: readonly string[], changes: Partial<Money>) => {
    for (const id of ids) payments.set(id, { ...payments.get(id)!, ...changes });
  };

  for (const { type, data } of events) {
    if ('status' in data) status = data.status;
    if (type === 'OrderPaid') status = 'paid';
    if (type === 'OrderRenewed') totalMinor = BigInt(data.totalMinor);
    if (type === 'OrderPaymentReceived') {
      const { paymentId, amountMinor } = data.payment;
      const known = payments.get(paymentId);
      const paidMinor = BigInt(amountMinor);
      payments.set(paymentId, known ?? { status: 'received', paidMinor, countedMinor: 0n, refundedMinor: 0n });
    }
    if (type === 'OrderPaymentsOrphaned') change(data.paymentIds, { status: 'orphan', countedMinor: 0n });
    if (type === 'OrderExpired' || type === 'OrderCanceled')
      change(data.orphanedPaymentIds, { status: 'orphan', countedMinor: 0n });
    if (type === 'OrderPaymentFailed') change([data.paymentId], { status: 'failed', countedMinor: 0n });
    if (type === 'OrderPaymentReinstated') change([data.paymentId], { status: 'received' });
    if (type === 'OrderPaymentsApplied')
      for (const { paymentId, appliedMinor } of data.allocations)
        change([paymentId], { status: 'applied', countedMinor: BigInt(appliedMinor) });
    if (type === 'OrderPaymentRefunded') {
      const refundedMinor = BigInt(data.refundedTotalMinor);
      const whole = refundedMinor === payments.get(data.paymentId)!.paidMinor;
      const partly = data.appliedMinor !== undefined && { countedMinor: BigInt(data.appliedMinor) };
      change([data.paymentId], { refundedMinor, ...partly, ...(whole && { status: 'refunded', countedMinor: 0n }) });
    }
  }

  const countedMinor = [...payments.values()].reduce((sum, payment) => sum + payment.countedMinor, 0n);
  const remainingMinor = totalMinor > countedMinor ? totalMinor - countedMinor : 0n;
  const amount = (minor: bigint) => fromMinor(minor, created.data.decimals);
  return {
    status,
    total_amount: amount(totalMinor),
    remaining_amount: amount(remainingMinor),
    payments: [...payments].map(([id, money]) => ({ id, status: money.status, applied: amount(appliedMinor(money)) })),
  };
};

/** The applied amount after refunds, which reduce the surplus first. */
const appliedMinor = ({ paidMinor, countedMinor, refundedMinor }: Money): bigint => {
  const remainingPaidMinor = paidMinor - refundedMinor;
  return countedMinor < remainingPaidMinor ? countedMinor : remainingPaidMinor;
};

/** The ledger of an order as the API shows it. */
export const ledgerFromApi = ({ status, total_amount, remaining_amount, payments }: Order): Ledger => ({
  status,
  total_amount,
  remaining_amount,
  payments: payments.map((payment) => ({
    id: payment.id,
    status: payment.status,
    applied: payment.applied_amount ?? fromMinor(0n, decimalsIn(total_amount)),
  })),
});

const Metadata = z.object({
  actor: z.string().min(1),
  requestId: z.string().min(1),
  $correlationId: z.string().min(1),
  $causationId: z.string().min(1),
  previousHash: z.string(),
  hash: z.string(),
  hashVersion: z.literal(2),
  salt: z.string().min(22),
});

export interface StoredEvent {
  readonly revision: number;
  readonly event: OrderEvent;
  readonly metadata: z.infer<typeof Metadata>;
}

/** Reads the stream of an order from EventStoreDB and checks its hash chain. Null for a tombstone; throws for a
 *  broken chain. */
export const readOrderStream = async (client: EventStoreDBClient, orderId: string): Promise<StoredEvent[] | null> => {
  const stream = `order-${orderId}`;
  const stored: StoredEvent[] = [];
  let previousHash = sha256(stream);
  try {
    for await (const { event } of client.readStream(stream)) {
      if (!event) throw new Error(`${stream} contains a link`);
      const metadata = Metadata.parse(event.metadata);
      const hash = hashOf({
        id: `evt_${uuidToULID(event.id.toUpperCase())}`,
        stream,
        sequence: Number(event.revision),
        type: event.type,
        actor: metadata.actor,
        request_id: metadata.requestId,
        correlation_id: metadata.$correlationId,
        causation_id: metadata.$causationId,
        hash_version: metadata.hashVersion,
        salt: metadata.salt,
        previous_hash: previousHash,
        data: event.data as RecordedEntry['data'],
      });
      if (metadata.previousHash !== previousHash || metadata.hash !== hash) {
        throw new Error(`the hash chain of ${stream} is broken at event ${event.revision}`);
      }
      previousHash = hash;
      stored.push({
        revision: Number(event.revision),
        event: OrderEvent.parse({ type: event.type, data: event.data }),
        metadata,
      });
    }
    return stored;
  } catch (error) {
    if (error instanceof StreamDeletedError) return null;
    throw error;
  }
};

/** The streams of a history in which each event names the hash of the one before it. The hashes themselves cover the
 *  recorded form, which only the audit commands print. */
export const linkedStreamsIn = (
  history: readonly Pick<RecordedEntry, 'stream' | 'sequence' | 'hash' | 'previous_hash'>[],
): string[] => {
  const streams = [...new Set(history.map(({ stream }) => stream))];
  return streams.filter((stream) => {
    const entries = history.filter((entry) => entry.stream === stream);
    return entries.every(({ sequence, previous_hash }, index) => {
      const previous = index === 0 ? sha256(stream) : entries[index - 1]!.hash;
      return sequence === index && previous_hash === previous;
    });
  });
};

/** The streams of a recorded history whose hash chain is complete and valid. */
export const intactStreamsIn = (history: readonly RecordedEntry[]): string[] => {
  const streams = [...new Set(history.map(({ stream }) => stream))];
  return streams.filter((stream) => {
    let previousHash = sha256(stream);
    return history
      .filter((entry) => entry.stream === stream)
      .every((entry, index) => {
        const follows = entry.sequence === index && entry.previous_hash === previousHash;
        const { hash: _, at: __, recorded_at: ___, ...hashed } = entry;
        previousHash = hashOf(hashed);
        return follows && entry.hash === previousHash;
      });
  });
};

const hashOf = (hashed: Omit<RecordedEntry, 'hash' | 'at' | 'recorded_at'>): string =>
  sha256(`cpg event 2\n${serialize(hashed)}`);

// The types of the package describe its CommonJS export as an ES module.
const serialize = canonicalize as unknown as typeof canonicalize.default;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The entries that an `audit` command prints, one per line. */
export const entriesIn = (output: string): RecordedEntry[] =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedEntry);
