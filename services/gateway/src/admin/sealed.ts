import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import { webhookRow } from '@cpg/platform';
import { responseRow } from '../door/idempotency/stored-requests.ts';

/** A row with encrypted values. */
export interface SealedRow {
  /** For messages. */
  readonly name: string;
  /** To which its boxes are bound. */
  readonly row: string;
  readonly table: 'webhooks' | 'idempotency_keys';
  /** The primary key by column. */
  readonly key: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  /** The encrypted values, in the order of `columns`. */
  readonly boxes: readonly string[];
}

const WEBHOOK_BOXES = ['secret_box', 'previous_secret_box', 'older_secret_box'] as const;

export const sealedWebhooks = async (pool: Pool): Promise<SealedRow[]> => {
  const rows = await select<Record<'id' | (typeof WEBHOOK_BOXES)[number], string | null>>(
    pool,
    `select id, ${WEBHOOK_BOXES.join(', ')} from gateway.webhooks where deleted_at is null order by id`,
  );
  return rows.map((row) => {
    const columns = WEBHOOK_BOXES.filter((column) => row[column]);
    const boxes = columns.map((column) => row[column]!);
    return {
      name: `webhook ${row.id}`,
      row: webhookRow(row.id!),
      table: 'webhooks',
      key: { id: row.id! },
      columns,
      boxes,
    };
  });
};

/** A box of each key that encrypted secrets of webhooks. */
export const boxOfEachKey = async (db: Queryable): Promise<string[]> => {
  const { rows } = await db.query<{ box: string }>(
    `select min(box) as box from gateway.webhooks, unnest(array[${WEBHOOK_BOXES.join(', ')}]) as box
      where deleted_at is null and box <> '' group by split_part(box, '.', 2)`,
  );
  return rows.map(({ box }) => box);
};

/** Stored responses that show a secret. */
export const sealedResponses = async (pool: Pool): Promise<SealedRow[]> => {
  const rows = await select<{ merchant_id: string; key: string; answer: string }>(
    pool,
    'select merchant_id, key, answer from gateway.idempotency_keys where sealed and answer is not null and expires_at > now()',
  );
  return rows.map(({ answer, ...key }) => ({
    name: `a stored response of merchant ${key.merchant_id}`,
    row: responseRow({ merchantId: key.merchant_id, key: key.key }),
    table: 'idempotency_keys',
    key,
    columns: ['answer'],
    boxes: [answer],
  }));
};

/** Replaces the values of a row, unless one of them has changed meanwhile. Returns whether it did. */
export const updateSealed = async (
  db: Queryable,
  { table, key, columns, boxes }: SealedRow,
  fresh: readonly string[],
): Promise<boolean> => {
  const values: string[] = [];
  const place = (value: string) => `$${values.push(value)}`;
  const assignments = columns.map((column, index) => `${column} = ${place(fresh[index]!)}`);
  const conditions = [
    ...Object.entries(key).map(([column, value]) => `${column} = ${place(value)}`),
    ...columns.map((column, index) => `${column} = ${place(boxes[index]!)}`),
  ];
  const { rowCount } = await db.query(
    `update gateway.${table} set ${assignments.join(', ')} where ${conditions.join(' and ')}`,
    values,
  );
  return rowCount === 1;
};

/** Stored responses have no index for this: it may take longer than a statement of a request. */
const select = <Row extends object>(pool: Pool, text: string): Promise<Row[]> =>
  transaction(pool, async (db) => {
    await db.query('set local statement_timeout = 0');
    return (await db.query<Row>(text)).rows;
  });
