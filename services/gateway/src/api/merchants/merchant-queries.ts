import type { CreateMerchantDto, Merchant, OrderDefaults } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';

interface MerchantRow extends CreateMerchantDto {
  readonly order_defaults: OrderDefaults;
  readonly id: string;
  readonly created_at: Date;
  readonly updated_at: Date | null;
  readonly disabled_at: Date | null;
}

/** A merchant as the operator defined it, and as the API returns it. */
export interface StoredMerchant {
  readonly definition: CreateMerchantDto;
  readonly resource: Merchant;
  readonly disabledAt: Date | null;
}

export const merchantById = async (db: Queryable, id: string): Promise<StoredMerchant | null> => {
  const { rows } = await db.query<MerchantRow>('select * from gateway.merchants where id = $1', [id]);
  return rows[0] ? fromRow(rows[0]) : null;
};

/** Locks the merchant's row until the transaction ends. */
export const lockMerchant = async (db: Queryable, id: string): Promise<void> => {
  await db.query('select from gateway.merchants where id = $1 for no key update', [id]);
};

/** The defaults of a merchant as they are now: an API key in the cache may be older. */
export const orderDefaultsOf = async (db: Queryable, id: string): Promise<OrderDefaults> => {
  const { rows } = await db.query<{ order_defaults: OrderDefaults }>(
    'select order_defaults from gateway.merchants where id = $1',
    [id],
  );
  return rows[0]?.order_defaults ?? {};
};

export const merchantByReference = async (db: Queryable, reference: string): Promise<StoredMerchant | null> => {
  const { rows } = await db.query<MerchantRow>('select * from gateway.merchants where external_reference_id = $1', [
    reference,
  ]);
  return rows[0] ? fromRow(rows[0]) : null;
};

export const listMerchants = async (db: Queryable): Promise<StoredMerchant[]> => {
  const { rows } = await db.query<MerchantRow>('select * from gateway.merchants order by created_at, id');
  return rows.map(fromRow);
};

/** Returns false when the external reference is taken. */
export const insertMerchant = async (
  db: Queryable,
  id: string,
  merchant: CreateMerchantDto,
  at: Date,
): Promise<boolean> => {
  const { rowCount } = await db.query(
    `insert into gateway.merchants
       (id, created_at, external_reference_id, type, payment_methods, individual_profile, business_profile, metadata, order_defaults)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (external_reference_id) do nothing`,
    [id, at, ...valuesOf(merchant)],
  );
  return rowCount === 1;
};

export const updateMerchant = async (
  db: Queryable,
  id: string,
  merchant: CreateMerchantDto,
  at: Date,
): Promise<void> => {
  await db.query(
    `update gateway.merchants set updated_at = $2, external_reference_id = $3, type = $4, payment_methods = $5,
       individual_profile = $6, business_profile = $7, metadata = $8, order_defaults = $9 where id = $1`,
    [id, at, ...valuesOf(merchant)],
  );
};

export type MerchantStatus = 'active' | 'disabled';

/** Disables or enables a merchant. Returns false if it has the status already. */
export const updateMerchantStatus = async (
  db: Queryable,
  id: string,
  status: MerchantStatus,
  at: Date,
): Promise<boolean> => {
  const { rowCount } = await db.query(
    `update gateway.merchants set disabled_at = case $2 when 'disabled' then $3::timestamptz end
      where id = $1 and (disabled_at is null) = ($2 = 'disabled')`,
    [id, status, at],
  );
  return rowCount === 1;
};

const valuesOf = (merchant: CreateMerchantDto): unknown[] => [
  merchant.external_reference_id,
  merchant.type,
  JSON.stringify(merchant.payment_methods),
  merchant.individual_profile ?? null,
  merchant.business_profile ?? null,
  merchant.metadata,
  merchant.order_defaults ?? {},
];

const fromRow = (row: MerchantRow): StoredMerchant => {
  const fields = {
    type: row.type,
    external_reference_id: row.external_reference_id,
    payment_methods: row.payment_methods,
    order_defaults: row.order_defaults,
    ...(row.individual_profile && { individual_profile: row.individual_profile }),
    ...(row.business_profile && { business_profile: row.business_profile }),
  };
  return {
    definition: { ...fields, metadata: row.metadata },
    disabledAt: row.disabled_at,
    resource: {
      id: row.id,
      ...fields,
      created_at: row.created_at.toISOString(),
      ...(row.updated_at && { updated_at: row.updated_at.toISOString() }),
    },
  };
};
