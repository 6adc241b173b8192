import { pipeline, Readable } from 'node:stream';
import type { SettlementLine } from '@cpg/contracts';
import { stringify } from 'csv-stringify';

/** In the order of the file. Columns are only added at the end. */
const COLUMNS = [
  ...['id', 'entry', 'booked_at', 'event', 'account', 'amount', 'currency', 'item_amount', 'item_currency', 'rate'],
  ...['payment_id', 'order_id', 'external_reference_id', 'refund_id', 'tx_hash', 'merchant_id'],
] as const satisfies readonly (keyof SettlementLine)[];

const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** The lines as CSV (RFC 4180). A text that spreadsheets would run as a formula gets a `'`. When reading the lines fails,
 *  the stream fails. */
export const settlementCsv = (lines: AsyncIterable<SettlementLine>): Readable =>
  pipeline(
    Readable.from(lines),
    stringify({
      header: true,
      columns: [...COLUMNS],
      record_delimiter: 'windows',
      cast: { string: (text) => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text) },
    }),
    () => {},
  );
