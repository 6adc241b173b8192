import { isDeepStrictEqual } from 'node:util';
import { derivedId, type FieldChange, type MerchantEventType, NewMerchantEvent, PERSONAL_FIELDS } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';

/** Who changes something, when, and by which request. */
export interface Change {
  /** The actor: `key:` and the kid of an API key, `user:` and the id of a user, or an operator. */
  readonly by: string;
  readonly at: Date;
  /** Undefined for commands of operators. */
  readonly requestId?: string | undefined;
  /** The seed of a POST. A repeat has the same one, and records nothing more. */
  readonly seed?: string | undefined;
}

/** A change by a command of an operator, who may have given a name. */
export const byOperator = (at: Date, name?: string): Change => ({
  by: name === undefined ? OPERATOR : `${OPERATOR}:${name}`,
  at,
});

/** How the actors of all commands begin. A name follows the colon. */
export const OPERATOR = 'operator';

export interface ChangeRecord {
  readonly type: MerchantEventType;
  readonly merchantId: string;
  /** The id of the key, user, webhook or merchant. */
  readonly subject: string;
  readonly changes?: Readonly<Record<string, FieldChange>>;
  readonly reason?: string;
}

/** Records a change. Call it in the transaction that makes the change, after its other statements: it locks the events
 *  of the merchant (ADR 32). */
export const recordChange = async (
  db: Queryable,
  { type, merchantId, subject, changes = {}, reason }: ChangeRecord,
  { by, at, requestId, seed }: Change,
): Promise<void> => {
  const data = { merchantId, subject, changes, ...(reason !== undefined && { reason }), at: at.toISOString() };
  const event = NewMerchantEvent.parse({ type, data });
  const id = seed === undefined ? newId('event', at) : derivedId('event', `${seed} ${type} ${subject}`);
  await db.query('select gateway.record_merchant_event($1, $2, $3, $4, $5)', [
    ...[id, type, by, requestId ?? null],
    event.data,
  ]);
};

/** Records a change, unless no field differs. */
export const recordIfChanged = async (
  db: Queryable,
  record: ChangeRecord & Required<Pick<ChangeRecord, 'changes'>>,
  change: Change,
): Promise<void> => {
  if (Object.keys(record.changes).length > 0) await recordChange(db, record, change);
};

/** The named fields that differ, with both values. What is created has nothing before, and null is no value. */
export const changedFields = <T extends object>(
  before: Partial<T> | null,
  after: Partial<T>,
  names: readonly (keyof T & string)[],
): Record<string, FieldChange> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const values = { before: before?.[name] ?? null, after: after[name] ?? null };
      if (isDeepStrictEqual(values.before, values.after)) return [];
      return [[name, PERSONAL_FIELDS.has(name) ? {} : values]];
    }),
  );
