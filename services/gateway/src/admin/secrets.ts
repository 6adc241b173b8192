import { type SecretBox, webhookRow } from '@cpg/platform';
import { type AdminCommand, CommandError, type RunWith } from '@cpg/platform/commands';
import { type Pool, type Queryable, transaction, withoutTimeout } from '@cpg/platform/postgres';
import { newSigningKey, noteSigner } from '@cpg/transparency-log';
import { WEBHOOK_BOXES } from '../api/webhooks/webhook-queries.ts';
import { responseRow } from '../door/idempotency/stored-requests.ts';
import { countHashes } from '../door/keys/credentials.ts';
import { pepperId } from '../door/keys/hash.ts';
import { totpBoxes, totpRow } from '../identity/users.ts';

export interface SecretsAdmin {
  readonly pool: Pool;
  readonly box: SecretBox;
  /** The first pepper. */
  readonly pepper: string;
  /** The public key of the transparency log; null without a log. */
  readonly auditLogKey: string | null;
}

/** Adds commands that are safe to run again, and while services run: a row that changes meanwhile keeps its change. */
export const addSecretsCommands = (program: AdminCommand, withSecrets: RunWith<SecretsAdmin>): void => {
  const secrets = program.command('secrets').description('the keys that encrypt and hash stored secrets');
  secrets
    .command('status')
    .description('count what still needs earlier keys and peppers')
    .examples('secrets status')
    .runs(() => withSecrets(status));
  secrets
    .command('reseal')
    .description('encrypt everything again with the first key of WEBHOOK_ENCRYPTION_KEY')
    .examples('secrets reseal')
    .runs(() => withSecrets(async (admin) => `encrypted again: ${await reseal(admin)}\n${await status(admin)}`));
  secrets
    .command('audit-log-key')
    .description('print the public key of the transparency log, for whoever verifies it')
    .examples('secrets audit-log-key')
    .runs(() => withSecrets(async ({ auditLogKey }) => auditLogKey ?? noLog()));
  secrets
    .command('new-audit-log-key')
    .description('make an AUDIT_LOG_KEY, which signs the checkpoints of the transparency log')
    .argument('<name>', 'names the log for whoever verifies it, for example the host name of the gateway')
    .examples('secrets new-audit-log-key pay.example.com')
    .runs((name: string) => newAuditLogKey(name));
};

const noLog = (): never => {
  throw new CommandError('AUDIT_LOG_KEY is not set: make one with "secrets new-audit-log-key"');
};

const newAuditLogKey = (name: string): string => {
  const key = newSigningKey(name);
  return [
    `AUDIT_LOG_KEY=${key}`,
    '',
    'Keep it secret. Give this public key to whoever verifies the log:',
    noteSigner(key).verifierKey,
  ].join('\n');
};

const status = async ({ pool, box, pepper }: SecretsAdmin): Promise<string> => {
  const rows = await sealedRows(pool);
  const outdated = rows.filter(({ boxes }) => !boxes.every(box.isCurrent));
  const keys = await countHashes(pool, pepperId(pepper));
  return [
    `not encrypted with the first key: ${outdated.length} of ${rows.length}${outdated.length > 0 ? `, first ${outdated[0]!.name}` : ''}`,
    `active API keys not hashed with the first pepper: ${keys.outdated} of ${keys.all}`,
  ].join('\n');
};

const sealedRows = async (pool: Pool): Promise<SealedRow[]> => [
  ...(await sealedWebhooks(pool)),
  ...(await sealedTotps(pool)),
  ...(await sealedResponses(pool)),
];

/** Returns how many rows were encrypted again. */
const reseal = async ({ pool, box }: SecretsAdmin): Promise<number> => {
  let changed = 0;
  for (const row of await sealedRows(pool)) {
    if (row.boxes.every(box.isCurrent)) continue;
    const fresh = row.boxes.map((sealed) =>
      box.isCurrent(sealed) ? sealed : box.seal(opened(row, sealed, box), row.row),
    );
    if (await updateSealed(pool, row, fresh)) changed += 1;
  }
  return changed;
};

const opened = ({ name, row }: SealedRow, sealed: string, box: SecretBox): string => {
  try {
    return box.open(sealed, row);
  } catch (cause) {
    throw new CommandError(
      `cannot decrypt ${name}: ${(cause as Error).message}: add that key to WEBHOOK_ENCRYPTION_KEY`,
      {
        cause,
      },
    );
  }
};

/** A row with encrypted values. */
export interface SealedRow {
  /** For messages. */
  readonly name: string;
  /** To which its boxes are bound. */
  readonly row: string;
  readonly table: 'webhooks' | 'users' | 'idempotency_keys';
  /** The primary key by column. */
  readonly key: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  /** The encrypted values, in the order of `columns`. */
  readonly boxes: readonly string[];
}

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

/** The secrets of authenticator apps. */
const sealedTotps = async (pool: Pool): Promise<SealedRow[]> =>
  (await totpBoxes(pool)).map(({ id, totp_box }) => ({
    name: `the authenticator app of user ${id}`,
    row: totpRow(id),
    table: 'users',
    key: { id },
    columns: ['totp_box'],
    boxes: [totp_box],
  }));

/** Stored responses that show a secret. */
const sealedResponses = async (pool: Pool): Promise<SealedRow[]> => {
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
    return (await db.query<Row>(withoutTimeout(text))).rows;
  });
