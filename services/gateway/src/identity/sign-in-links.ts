import type { Queryable } from '@cpg/platform/postgres';
import { hashOfToken, newToken } from './tokens.ts';
import type { User } from './users.ts';

const LIFETIME_MS = 3 * 24 * 60 * 60_000;

export interface SignInLink {
  /** The part of the link after `#link=`. It is not stored. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** Makes a link that signs the user in once, within three days. Earlier links of the user stop working. */
export const makeSignInLink = async (
  db: Queryable,
  userId: string,
  { by, at }: { readonly by: string; readonly at: Date },
): Promise<SignInLink> => {
  const token = newToken();
  const expiresAt = new Date(at.getTime() + LIFETIME_MS);
  await db.query('delete from gateway.sign_in_links where user_id = $1', [userId]);
  await db.query(
    `insert into gateway.sign_in_links (token_hash, user_id, created_at, created_by, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [hashOfToken(token), userId, at, by, expiresAt],
  );
  return { token, expiresAt };
};

/** The path that a link opens. The token is in the fragment, which browsers send to no server: no log has it. */
export const pathOfLink = ({ token }: SignInLink): string => `/dashboard/sign-in#link=${token}`;

/** The user that a link signs in; null for a link that is unknown, was used, or has expired. */
export const userOfLink = async (db: Queryable, token: string, at: Date): Promise<User | null> => {
  const { rows } = await db.query<User>(
    `select u.* from gateway.sign_in_links l join gateway.users u on u.id = l.user_id
      where l.token_hash = $1 and l.expires_at > $2`,
    [hashOfToken(token), at],
  );
  return rows[0] ?? null;
};

/** Returns false if another request used the link first. */
export const useLink = async (db: Queryable, token: string): Promise<boolean> => {
  const { rowCount } = await db.query('delete from gateway.sign_in_links where token_hash = $1', [hashOfToken(token)]);
  return rowCount === 1;
};

/** The links of the user stop working. */
export const deleteLinks = async (db: Queryable, userId: string): Promise<void> => {
  await db.query('delete from gateway.sign_in_links where user_id = $1', [userId]);
};
