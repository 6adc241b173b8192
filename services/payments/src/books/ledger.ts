import { LedgerAccount } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';

const MAX_SHOWN = 50;

/** Sums the ledger of all payments by currency and account, for `audit verify`, and finds entries whose lines do not
 *  add up to zero. */
export const verifyLedger = async (db: Queryable): Promise<{ readonly lines: string[]; readonly faults: number }> => {
  const { rows: sums } = await db.query<{ currency: string; account: LedgerAccount; amount: string }>(
    'select currency, account, sum(amount)::text as amount from payments.postings group by currency, account order by currency',
  );
  const { rows: entries } = await db.query<{ entry: string; amount: string }>(
    `select regexp_replace(id, '_[0-9]+$', '') as entry, sum(amount)::text as amount
       from payments.postings group by entry having sum(amount) <> 0 order by entry limit ${MAX_SHOWN}`,
  );
  const currencies = [...new Set(sums.map(({ currency }) => currency))];
  const lineOf = (currency: string): string => {
    const own = sums.filter((sum) => sum.currency === currency);
    const amounts = LedgerAccount.options.flatMap((account) => {
      const sum = own.find((row) => row.account === account);
      return sum ? [`${account} ${sum.amount}`] : [];
    });
    return `ledger in ${currency}: ${amounts.join(', ')}`;
  };
  return {
    lines: [
      ...currencies.map(lineOf),
      ...entries.map(({ entry, amount }) => `${entry}: the lines of this entry add up to ${amount}, not to 0`),
      ...(currencies.length > 0 && entries.length === 0 ? ['ledger: every entry adds up to 0'] : []),
    ],
    faults: entries.length,
  };
};
