import type { Queryable } from '@cpg/platform/postgres';
import type { ChainKind } from './chain-kind.ts';

/** Whether a network was read past an instant, and what it showed by then at some addresses was reported. */
type Standing = 'unread' | 'unreported' | 'reported';

export type StandingOfChain = (network: string, at: Date, addresses: readonly string[]) => Promise<Standing>;

interface Row {
  readonly time: Date | null;
  readonly read_at: Date | null;
  readonly has_unreported: boolean;
}

/** A network that nobody watches has nothing to report. `kinds` has those that are watched. */
export const standingOfChain =
  (db: Queryable, kinds: ReadonlyMap<string, ChainKind>): StandingOfChain =>
  async (network, at, addresses) => {
    const kind = kinds.get(network);
    if (!kind) return 'reported';
    const { rows } = await db.query<Row>({
      name: 'chain-standing',
      text: `select time, read_at, exists (
               select from payments.chain_transfers as transfer
               where transfer.network = $1 and open and (reported is null or pending is not null) and seen_at <= $2
                 and address = any($3)
             ) as has_unreported
             from payments.chain_cursors as cursor where cursor.network = $1`,
      values: [network, at, addresses],
    });
    const [row] = rows;
    if (!row) return 'unread';
    // A later block can have an earlier time where miners choose it, so there only the clock counts.
    const isTimePast = kind.hasOrderedTimes && row.time !== null && row.time > at;
    const isRead = isTimePast || (row.read_at !== null && row.read_at.getTime() >= at.getTime() + kind.settleMs);
    if (!isRead) return 'unread';
    return row.has_unreported ? 'unreported' : 'reported';
  };
