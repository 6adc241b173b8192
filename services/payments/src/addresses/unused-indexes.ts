import { depositsOf, isTemporary } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { findInLog } from '@cpg/event-sourcing';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { merchantOfOrder } from '../payables/merchant-of-order.ts';
import { type Payable, payableChangeAbout } from '../payables/payable.ts';
import { payableProjection } from '../payables/payable-projection.ts';
import { receivingIndex } from './account-key.ts';
import {
  highestAssignedIndex,
  highestUnrecordedIndex,
  reservedIndexes,
  usedAddresses,
} from '../payables/reserved-indexes.ts';
import type { AccountOptions } from './lease-indexes.ts';

export interface UnusedIndexesOptions {
  readonly client: EventStoreDBClient;
  readonly readModel: Queryable;
  /** The fingerprint of the account. */
  readonly account: string;
  /** The addresses of an index, on each network that uses the account. */
  readonly addressesAt: (index: number) => string[];
}

/** More than are asked for: rows may name indexes that were used lately. */
const SPARE = 256;

/** What the read model, and the log beyond it, say about the indexes of an account. */
export const unusedIndexes = ({
  client,
  readModel,
  account,
  addressesAt,
}: UnusedIndexesOptions): Pick<AccountOptions, 'firstIndex' | 'unusedUpTo'> => {
  const source = { client, db: readModel, projection: payableProjection(client) };
  const changeIn = (entry: AllStreamResolvedEvent) =>
    payableChangeAbout(account, entry, (orderId) => merchantOfOrder(client, orderId));

  const highestInLog = async (): Promise<number> => {
    let highest = -1;
    const inEvent = async (entry: AllStreamResolvedEvent) => {
      const change = await changeIn(entry);
      if (change && change.kind !== 'reserved') highest = Math.max(highest, ...indexesIn(change.payables, account));
      return null;
    };
    const inRows = async () => {
      highest = await highestAssignedIndex(readModel, account);
      return null;
    };
    await findInLog({ ...source, inRows, inEvent });
    return highest;
  };

  const unusedInLog = async (revision: number, count: number): Promise<number[]> => {
    const upTo = { account, revision };
    const unused = new Set<number>();
    const take = (index: number) => unused.delete(index);
    const inRows = async () => {
      for (const index of await reservedIndexes(readModel, { ...upTo, count: count + SPARE })) unused.add(index);
      return null;
    };
    const inEvent = async (entry: AllStreamResolvedEvent) => {
      const change = await changeIn(entry);
      if (change?.kind !== 'reserved') indexesIn(change?.payables ?? [], account).forEach(take);
      else if (change.account === account && change.revision > revision) change.indexes.forEach(take);
      return null;
    };
    await findInLog({ ...source, inRows, inEvent });
    return [...unused];
  };

  return {
    firstIndex: async (isNew) => {
      const unrecorded = await highestUnrecordedIndex(readModel, account);
      return 1 + Math.max(unrecorded, isNew ? await highestInLog() : -1);
    },
    unusedUpTo: async (revision, count) => {
      const candidates = await reservedIndexes(readModel, { account, revision, count: 1 });
      if (candidates.length === 0) return [];
      try {
        const unused = (await unusedInLog(revision, count)).map((index) => ({ index, addresses: addressesAt(index) }));
        const used = await usedAddresses(
          readModel,
          unused.flatMap(({ addresses }) => addresses),
        );
        return unused.filter(({ addresses }) => !addresses.some((each) => used.has(each))).map(({ index }) => index);
      } catch (error) {
        // New indexes are as good.
        if (isTemporary(error)) return [];
        throw error;
      }
    },
  };
};

const indexesIn = (payables: readonly Payable[], account: string): number[] =>
  payables.flatMap(({ instruction }) => {
    const own = depositsOf(instruction).filter(({ derivation }) => derivation.fingerprint === account);
    return own.flatMap(({ derivation }) => receivingIndex(derivation.path) ?? []);
  });
