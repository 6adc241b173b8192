import type { Queryable } from '@cpg/postgres';
import type { ChainKind } from './chain-kind.ts';

interface Row {
  readonly time: Date | null;
  readonly read_at: Date | null;
  readonly has_unreported: boolean;
}

/** Whether a network was read past an instant, and everything seen by then was reported. True for a network that
 *  nobody watches. `kinds` has those that are watched. */
export const readPast =
  (db: Queryable, kinds: ReadonlyMap<string, ChainKind>) =>
  async (network: string, at: Date): Promise<boolean> => {
    const kind = kinds.get(network);
    if (!kind) return true;
    const { rows } = await db.query<Row>({
      name: 'chain-read-past',
      text: `select time, read_at, exists (
               select from payments.chain_transfers as transfer
               where transfer.network = $1 and open and (reported is null or pending is not null) and seen_at <= $2
             ) as has_unreported
             from payments.chain_cursors as cursor where cursor.network = $1`,
      values: [network, at],
    });
    const [row] = rows;
    if (!row || row.has_unreported) return false;
    // A later block can have an earlier time where miners choose it, so there only the clock counts.
    const isTimePast = kind.hasOrderedTimes && row.time !== null && row.time > at;
    return isTimePast || (row.read_at !== null && row.read_at.getTime() >= at.getTime() + kind.settleMs);
  };
