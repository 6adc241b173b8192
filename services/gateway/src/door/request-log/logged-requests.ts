import type { Queryable } from '@cpg/platform/postgres';

/** An answered request, as it is stored. */
export interface LoggedRequest {
  /** The request id. */
  readonly id: string;
  readonly merchant_id: string;
  /** The key that authenticated it, or null for a user. */
  readonly api_key_id: string | null;
  readonly user_id: string | null;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  readonly status: number;
  /** The code of the error; null for another answer. */
  readonly code: string | null;
  readonly duration_ms: number;
  readonly address: string;
  /** When it arrived. */
  readonly created_at: Date;
}

/** The columns, with the type of an array of each. */
const COLUMNS = {
  id: 'text[]',
  merchant_id: 'text[]',
  api_key_id: 'text[]',
  user_id: 'text[]',
  method: 'text[]',
  path: 'text[]',
  status: 'int[]',
  code: 'text[]',
  duration_ms: 'int[]',
  address: 'text[]',
  created_at: 'timestamptz[]',
} as const satisfies Record<keyof LoggedRequest, string>;
const NAMES = Object.keys(COLUMNS) as (keyof LoggedRequest)[];

/** Stores requests. Repeating it changes nothing. */
export const insertRequests = async (db: Queryable, requests: readonly LoggedRequest[]): Promise<void> => {
  await db.query(
    `insert into gateway.request_log (${NAMES.join(', ')})
     select * from unnest(${NAMES.map((name, index) => `$${index + 1}::${COLUMNS[name]}`).join(', ')})
     on conflict (id) do nothing`,
    NAMES.map((name) => requests.map((request) => request[name])),
  );
};

const BATCH_SIZE = 10_000;

/** Deletes the requests that arrived before. Returns how many. */
export const deleteRequests = async (db: Queryable, before: Date): Promise<number> => {
  let deleted = 0;
  for (;;) {
    const { rowCount } = await db.query(
      `delete from gateway.request_log where id in
         (select id from gateway.request_log where created_at < $1 limit ${BATCH_SIZE} for update skip locked)`,
      [before],
    );
    deleted += rowCount ?? 0;
    if (!rowCount) return deleted;
  }
};
