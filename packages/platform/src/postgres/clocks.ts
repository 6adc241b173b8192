import { type Bounds, LIMIT_MS } from '../clock/verdict.ts';
import type { ClockGuardOptions, OtherClock, OwnClocks } from '../clock/clock-guard.ts';
import { ConfigError } from '../config/config.ts';
import type { Queryable } from './pool.ts';

/** The clocks with which a service compares its own. From its database: PostgreSQL, the chains that payments reads, and
 *  the statement of an operator; and `others`. */
export const databaseClocks = (
  db: Queryable,
  others: readonly OtherClock[] = [],
): Pick<ClockGuardOptions, 'readConfirmation'> & { clocks: OtherClock[] } => ({
  clocks: [postgresClock(db), chainClock(db), ...others],
  readConfirmation: confirmations(db),
});

/** The offset of the clock of PostgreSQL is between that of the answer and that of the question. */
const boundsOf = (time: Date, askedMs: number, answeredMs: number): Bounds => ({
  fromMs: time.getTime() - answeredMs,
  toMs: time.getTime() - askedMs,
});

const postgresClock = (db: Queryable): OtherClock => ({
  name: 'postgres',
  read: async ({ steadyMs }) => {
    const askedMs = steadyMs();
    const { rows } = await db.query<{ now: Date }>({ name: 'clock', text: 'select clock_timestamp() as now' });
    return boundsOf(rows[0]!.now, askedMs, steadyMs());
  },
});

interface NewestBlock {
  readonly network: string;
  /** Null until a node showed one. */
  readonly time: Date | null;
  /** How far the time of the newest block may be behind and ahead. */
  readonly lag_ms: number;
  readonly lead_ms: number;
}

/** The newest blocks that the nodes of payments show. An old block tells nothing until another one follows: its node
 *  may stand still. */
const chainClock = (db: Queryable): OtherClock => {
  const known = new Map<string, number>();
  let isExpected = false;
  const boundsIn = ({ network, time, lag_ms: lagMs, lead_ms: leadMs }: NewestBlock, own: OwnClocks): Bounds | null => {
    if (time === null) return null;
    const before = known.get(network);
    known.set(network, time.getTime());
    const isRecent = time.getTime() + lagMs + LIMIT_MS >= own.now().getTime();
    const isNew = before !== undefined && before < time.getTime();
    if (!isRecent && !isNew) return null;
    const offsetMs = time.getTime() - own.steadyMs();
    return { fromMs: offsetMs - leadMs, toMs: offsetMs + lagMs };
  };
  return {
    name: 'chains',
    isExpected: () => isExpected,
    read: async (own) => {
      const blocks = await newestBlocks(db).catch((error: unknown) => {
        isExpected ||= error instanceof ConfigError;
        throw error;
      });
      isExpected = blocks.length > 0;
      const each = blocks.map((block) => boundsIn(block, own)).filter((bounds) => bounds !== null);
      if (each.length === 0) return null;
      // No block comes from the future, so the latest chain shows which other ones are behind.
      const fromMs = Math.max(...each.map((bounds) => bounds.fromMs));
      const current = each.filter(({ toMs }) => toMs >= fromMs);
      return { fromMs, toMs: Math.min(...current.map(({ toMs }) => toMs)) };
    },
  };
};

/** The newest blocks of the networks whose blocks come at known intervals. */
export const newestBlocks = (db: Queryable): Promise<NewestBlock[]> => ignoringAbsence(queryBlocks(db));

const queryBlocks = async (db: Queryable): Promise<NewestBlock[]> => {
  const { rows } = await db.query<NewestBlock>({
    name: 'newest-blocks',
    text: 'select network, lag_ms, lead_ms, time from payments.newest_blocks',
  });
  return rows;
};

const confirmations =
  (db: Queryable): NonNullable<ClockGuardOptions['readConfirmation']> =>
  async ({ steadyMs }) => {
    const [row] = await ignoringAbsence(
      db
        .query<{ id: string; right: Date; is_recent: boolean }>({
          name: 'clock-confirmation',
          text: `select id, clock_timestamp() + ahead_ms * interval '1 ms' as "right",
                   clock_timestamp() between confirmed_at and confirmed_at + interval '1 day' as is_recent
                 from gateway.newest_clock_confirmation`,
        })
        .then(({ rows }) => rows),
    );
    return row ? { id: Number(row.id), offsetMs: row.right.getTime() - steadyMs(), isRecent: row.is_recent } : null;
  };

// undefined_table, undefined_column, invalid_schema_name: their owner is not started or upgraded yet.
const ABSENT = new Set<unknown>(['42P01', '42703', '3F000']);
const INSUFFICIENT_PRIVILEGE = '42501';

const ignoringAbsence = async <T>(rows: Promise<T[]>): Promise<T[]> =>
  rows.catch((error: unknown) => {
    const { code, message } = error as { code?: unknown; message: string };
    if (ABSENT.has(code)) return [];
    if (code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new ConfigError(
      `a clock cannot be read (${message}): run "admin migrate" with the DATABASE_URL of the owner`,
      { cause: error },
    );
  });
