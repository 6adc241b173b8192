import type { Queryable } from '@cpg/platform/postgres';
import type { Role } from './roles.ts';

/** The stored record of a person who signs in for a merchant. */
export interface User {
  readonly id: string;
  readonly merchant_id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: Role;
  readonly password_hash: string | null;
  readonly totp_box: string | null;
  readonly totp_confirmed_at: Date | null;
  readonly totp_step: string | null;
  readonly oidc_subject: string | null;
  readonly created_at: Date;
  readonly created_by: string;
  readonly updated_at: Date | null;
  readonly last_signed_in_at: Date | null;
  readonly disabled_at: Date | null;
}

/** The columns that no answer hides. */
export const SHOWN_COLUMNS = [
  'merchant_id',
  'email',
  'name',
  'role',
  'totp_confirmed_at',
  'updated_at',
  'last_signed_in_at',
  'disabled_at',
] as const;

export const userByEmail = async (db: Queryable, email: string): Promise<User | null> => {
  const { rows } = await db.query<User>('select * from gateway.users where lower(email) = lower($1)', [email]);
  return rows[0] ?? null;
};

/** A user of the merchant. */
export const userById = async (db: Queryable, merchantId: string, id: string): Promise<User | null> => {
  const { rows } = await db.query<User>('select * from gateway.users where id = $1 and merchant_id = $2', [
    id,
    merchantId,
  ]);
  return rows[0] ?? null;
};

export const usersOf = async (db: Queryable, merchantId: string): Promise<User[]> => {
  const { rows } = await db.query<User>('select * from gateway.users where merchant_id = $1 order by created_at, id', [
    merchantId,
  ]);
  return rows;
};

export type NewUser = Pick<User, 'id' | 'merchant_id' | 'email' | 'name' | 'role' | 'created_at' | 'created_by'>;

/** Returns false if a user of any merchant has the email address. */
export const insertUser = async (db: Queryable, user: NewUser): Promise<boolean> => {
  const { rowCount } = await db.query(
    `insert into gateway.users (id, merchant_id, email, name, role, created_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (lower(email)) do nothing`,
    [user.id, user.merchant_id, user.email, user.name, user.role, user.created_at, user.created_by],
  );
  return rowCount === 1;
};

export interface UserChanges {
  readonly name?: string | null;
  readonly role?: Role;
  readonly status?: 'active' | 'disabled';
}

/** Absent fields stay. A user that is disabled again keeps the first time. */
export const updateUser = async (
  db: Queryable,
  id: string,
  { name, role, status }: UserChanges,
  at: Date,
): Promise<void> => {
  await db.query(
    `update gateway.users set updated_at = $2, role = coalesce($3, role), name = case when $4 then $5 else name end,
       disabled_at = case $6 when 'active' then null when 'disabled' then coalesce(disabled_at, $2) else disabled_at end
      where id = $1`,
    [id, at, role ?? null, name !== undefined, name ?? null, status ?? null],
  );
};

export const deleteUser = async (db: Queryable, id: string): Promise<void> => {
  await db.query('delete from gateway.users where id = $1', [id]);
};

/** How many other owners of the merchant can sign in. */
export const countOtherOwners = async (db: Queryable, { id, merchant_id }: User): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from gateway.users
      where merchant_id = $1 and id <> $2 and role = 'owner' and disabled_at is null`,
    [merchant_id, id],
  );
  return rows[0]!.count;
};

export const setPassword = async (db: Queryable, id: string, hash: string, at: Date): Promise<void> => {
  await db.query('update gateway.users set password_hash = $2, updated_at = $3 where id = $1', [id, hash, at]);
};

/** Stores the secret of an authenticator app that is not confirmed yet. Null removes it. */
export const setTotp = async (db: Queryable, id: string, box: string | null, at: Date): Promise<void> => {
  await db.query(
    `update gateway.users set totp_box = $2, totp_confirmed_at = null, totp_step = null, updated_at = $3 where id = $1`,
    [id, box, at],
  );
};

/** Returns false if a code of this step or of a later one was accepted before: two requests with one code cannot both
 *  succeed. */
export const acceptTotpStep = async (db: Queryable, id: string, step: number): Promise<boolean> => {
  const { rowCount } = await db.query(
    'update gateway.users set totp_step = $2 where id = $1 and (totp_step is null or totp_step < $2)',
    [id, step],
  );
  return rowCount === 1;
};

/** From now on, the user needs codes of the app. The given recovery codes replace all earlier ones. */
export const confirmTotp = async (
  db: Queryable,
  id: string,
  recoveryHashes: readonly string[],
  at: Date,
): Promise<void> => {
  await db.query('update gateway.users set totp_confirmed_at = $2, updated_at = $2 where id = $1', [id, at]);
  await deleteRecoveryCodes(db, id);
  await db.query('insert into gateway.recovery_codes (user_id, code_hash) select $1, unnest($2::text[])', [
    id,
    recoveryHashes,
  ]);
};

export const deleteRecoveryCodes = async (db: Queryable, userId: string): Promise<void> => {
  await db.query('delete from gateway.recovery_codes where user_id = $1', [userId]);
};

/** Returns false for a code that is wrong or was used. */
export const useRecoveryCode = async (db: Queryable, userId: string, hash: string): Promise<boolean> => {
  const { rowCount } = await db.query('delete from gateway.recovery_codes where user_id = $1 and code_hash = $2', [
    userId,
    hash,
  ]);
  return rowCount === 1;
};

/** Binds the user to an account of the provider of OpenID Connect. Returns false if another account is bound to the
 *  user, or this one to another user. */
export const bindOidcSubject = async (db: Queryable, id: string, subject: string): Promise<boolean> => {
  const { rowCount } = await db.query(
    `update gateway.users set oidc_subject = $2
      where id = $1 and (oidc_subject is null or oidc_subject = $2)
        and not exists (select from gateway.users where oidc_subject = $2 and id <> $1)`,
    [id, subject],
  );
  return rowCount === 1;
};

/** The encrypted secrets of authenticator apps. */
export const totpBoxes = async (db: Queryable): Promise<{ id: string; totp_box: string }[]> => {
  const { rows } = await db.query<{ id: string; totp_box: string }>(
    'select id, totp_box from gateway.users where totp_box is not null order by id',
  );
  return rows;
};

/** A box of each key that encrypted secrets of authenticator apps. */
export const totpBoxOfEachKey = async (db: Queryable): Promise<string[]> => {
  const { rows } = await db.query<{ box: string }>(
    `select min(totp_box) as box from gateway.users where totp_box is not null group by split_part(totp_box, '.', 2)`,
  );
  return rows.map(({ box }) => box);
};

/** To which the box of a user's authenticator app is bound. */
export const totpRow = (userId: string): string => `gateway.users ${userId}`;
