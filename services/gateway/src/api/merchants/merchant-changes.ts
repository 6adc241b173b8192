import { isDeepStrictEqual } from 'node:util';
import type { CreateMerchantDto, OrderDefaults } from '@cpg/contracts';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import {
  byOperator,
  type Change,
  changedFields,
  OPERATOR,
  recordChange,
  recordIfChanged,
} from '../../audit/record-change.ts';
import { withChanges } from './merchant-definition.ts';
import {
  insertMerchant,
  lockMerchant,
  merchantById,
  type MerchantStatus,
  type StoredMerchant,
  updateMerchant,
  updateMerchantStatus,
} from './merchant-queries.ts';

const FIELDS = [
  'type',
  'external_reference_id',
  'payment_methods',
  'individual_profile',
  'business_profile',
  'metadata',
] as const satisfies (keyof CreateMerchantDto)[];
const DEFAULTS = ['enable_rails', 'payment_currency', 'capabilities'] as const satisfies (keyof OrderDefaults)[];

/** Returns false when the external reference is taken. */
export const createMerchant = (pool: Pool, id: string, merchant: CreateMerchantDto, change: Change): Promise<boolean> =>
  transaction(pool, async (db) => {
    if (!(await insertMerchant(db, id, merchant, change.at))) return false;
    await recordDefinition(db, id, { before: null, after: merchant }, change);
    return true;
  });

/** Changes fields of a merchant; null removes a field. `changesOf` gets the definition that nobody else changes
 *  meanwhile. Null if there is no such merchant. Throws `invalid_request`. */
export const changeMerchant = (
  pool: Pool,
  id: string,
  changesOf: (before: CreateMerchantDto) => object,
  change: Change,
): Promise<StoredMerchant | null> =>
  transaction(pool, async (db) => {
    await lockMerchant(db, id);
    const merchant = await merchantById(db, id);
    if (!merchant) return null;
    const { definition: before } = merchant;
    const after = withChanges(before, changesOf(before));
    if (isDeepStrictEqual(before, after)) return merchant;
    await updateMerchant(db, id, after, change.at);
    await recordDefinition(db, id, { before, after }, change);
    return merchantById(db, id);
  });

const recordDefinition = async (
  db: Queryable,
  id: string,
  { before, after }: { readonly before: CreateMerchantDto | null; readonly after: CreateMerchantDto },
  change: Change,
): Promise<void> => {
  const of = { merchantId: id, subject: id };
  const changes = changedFields<CreateMerchantDto>(before, after, FIELDS);
  if (before === null) await recordChange(db, { type: 'MerchantCreated', ...of, changes }, change);
  else await recordIfChanged(db, { type: 'MerchantChanged', ...of, changes }, change);
  const defaults = changedFields<OrderDefaults>(before?.order_defaults ?? {}, after.order_defaults ?? {}, DEFAULTS);
  await recordIfChanged(db, { type: 'OrderDefaultsChanged', ...of, changes: defaults }, change);
};

/** An operator's decision on a merchant. */
export interface StatusChange {
  readonly status: MerchantStatus;
  readonly at: Date;
  readonly by: string;
  readonly reason: string;
}

const STATUS_EVENTS = { active: 'MerchantEnabled', disabled: 'MerchantDisabled' } as const;

/** Disables or enables a merchant, and records who decided it and why. Returns false if it has the status already. */
export const changeMerchantStatus = (
  pool: Pool,
  id: string,
  { status, at, by, reason }: StatusChange,
): Promise<boolean> =>
  transaction(pool, async (db) => {
    if (!(await updateMerchantStatus(db, id, status, at))) return false;
    const record = { type: STATUS_EVENTS[status], merchantId: id, subject: id, reason };
    await recordChange(db, record, byOperator(at, by));
    return true;
  });

/** The oldest first. */
export const statusChangesOf = async (db: Queryable, id: string): Promise<StatusChange[]> => {
  const { rows } = await db.query<StatusChange>(
    `select case type when $3 then 'disabled' else 'active' end as status, created_at as at,
            substr(actor, length($4) + 2) as by, data ->> 'reason' as reason
       from gateway.merchant_events where merchant_id = $1 and type in ($2, $3) order by sequence`,
    [id, STATUS_EVENTS.active, STATUS_EVENTS.disabled, OPERATOR],
  );
  return rows;
};
