import type { Queryable } from '@cpg/platform/postgres';

/** A stored passkey. */
export interface Passkey {
  readonly id: string;
  readonly user_id: string;
  /** In base64url. */
  readonly credential_id: string;
  readonly public_key: Buffer;
  readonly counter: string;
  readonly transports: readonly string[];
  readonly name: string;
  readonly is_backed_up: boolean;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

/** The passkeys of a user, newest first. */
export const passkeysOf = async (db: Queryable, userId: string): Promise<Passkey[]> => {
  const { rows } = await db.query<Passkey>(
    'select * from gateway.passkeys where user_id = $1 order by created_at desc, id desc',
    [userId],
  );
  return rows;
};

/** The passkey with this credential id, of a user who is not disabled. */
export const passkeyByCredential = async (db: Queryable, credentialId: string): Promise<Passkey | null> => {
  const { rows } = await db.query<Passkey>(
    `select p.* from gateway.passkeys p join gateway.users u on u.id = p.user_id
      where p.credential_id = $1 and u.disabled_at is null`,
    [credentialId],
  );
  return rows[0] ?? null;
};

export type NewPasskey = Omit<Passkey, 'counter' | 'last_used_at' | 'public_key'> & {
  readonly public_key: Uint8Array;
  readonly counter: number;
};

/** Returns false if a user, of any merchant, has the passkey already. */
export const insertPasskey = async (db: Queryable, passkey: NewPasskey): Promise<boolean> => {
  const { id, user_id, credential_id, public_key, counter, transports, name, is_backed_up, created_at } = passkey;
  const { rowCount } = await db.query(
    `insert into gateway.passkeys
       (id, user_id, credential_id, public_key, counter, transports, name, is_backed_up, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (credential_id) do nothing`,
    [id, user_id, credential_id, Buffer.from(public_key), counter, transports, name, is_backed_up, created_at],
  );
  return rowCount === 1;
};

export interface PasskeyUse {
  readonly counter: number;
  readonly isBackedUp: boolean;
  readonly at: Date;
}

/** Records a use. Returns false if the passkey was deleted meanwhile, or used with this counter or a later one: two
 *  copies of one authenticator cannot both succeed. */
export const recordUse = async (
  db: Queryable,
  id: string,
  { counter, isBackedUp, at }: PasskeyUse,
): Promise<boolean> => {
  const { rowCount } = await db.query(
    `update gateway.passkeys set counter = $2, is_backed_up = $3, last_used_at = $4
      where id = $1 and (counter < $2 or (counter = 0 and $2 = 0))`,
    [id, counter, isBackedUp, at],
  );
  return rowCount === 1;
};

/** Returns false if the user has no such passkey. */
export const deletePasskey = async (db: Queryable, userId: string, id: string): Promise<boolean> => {
  const { rowCount } = await db.query('delete from gateway.passkeys where id = $1 and user_id = $2', [id, userId]);
  return rowCount === 1;
};
