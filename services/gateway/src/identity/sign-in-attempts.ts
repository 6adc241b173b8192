import type { Queryable } from '@cpg/platform/postgres';
import { hashOfToken } from './tokens.ts';
import type { User } from './users.ts';

const WINDOW_MS = 15 * 60_000;
const MAX_ATTEMPTS = 10;

/** Whose attempts count together: those on an account from one known browser, or from all other browsers. So wrong
 *  passwords from elsewhere never lock out a user in a browser that signed in before. */
export interface AttemptGroup {
  /** A hash of the email address, or of the link. */
  readonly account: string;
  /** The hash of a known browser; empty for all others. */
  readonly browser: string;
}

/** The account that a typed email address names, whether a user has it or not. An address can be typed in several ways,
 *  which all count for its user. */
export const accountOf = (email: string, user: Pick<User, 'id'> | null): string =>
  hashOfToken(`account ${user?.id ?? email.trim().toLowerCase()}`);

export type Attempt = { readonly id: string } | { readonly retryAfterSeconds: number };

/** Counts an attempt before its password is checked, so that attempts at the same time cannot exceed the limit. After
 *  10 in 15 minutes, returns in how many seconds the next one is allowed, and does not count this one. */
export const beginAttempt = async (db: Queryable, { account, browser }: AttemptGroup, at: Date): Promise<Attempt> => {
  const { rows } = await db.query<{ id: string }>(
    'insert into gateway.sign_in_attempts (account, browser, attempted_at) values ($1, $2, $3) returning id',
    [account, browser, at],
  );
  const id = rows[0]!.id;
  const before = await db.query<{ attempted_at: Date }>(
    `select attempted_at from gateway.sign_in_attempts
      where account = $1 and browser = $2 and attempted_at > $3 and id <> $4 order by attempted_at desc limit $5`,
    [account, browser, new Date(at.getTime() - WINDOW_MS), id, MAX_ATTEMPTS],
  );
  const oldest = before.rows[MAX_ATTEMPTS - 1];
  if (!oldest) return { id };
  await db.query('delete from gateway.sign_in_attempts where id = $1', [id]);
  const waitMs = oldest.attempted_at.getTime() + WINDOW_MS - at.getTime();
  return { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) };
};

/** Takes back an attempt that was no guess. */
export const forgetAttempt = async (db: Queryable, id: string): Promise<void> => {
  await db.query('delete from gateway.sign_in_attempts where id = $1', [id]);
};

/** The group's attempts no longer count: the user has signed in. */
export const forgetAttempts = async (db: Queryable, { account, browser }: AttemptGroup): Promise<void> => {
  await db.query('delete from gateway.sign_in_attempts where account = $1 and browser = $2', [account, browser]);
};

/** Whether the user signed in before in the browser with this token. */
export const isKnownBrowser = async (db: Queryable, userId: string, tokenHash: string): Promise<boolean> => {
  const { rowCount } = await db.query('select from gateway.known_browsers where user_id = $1 and token_hash = $2', [
    userId,
    tokenHash,
  ]);
  return rowCount === 1;
};

export const rememberBrowser = async (db: Queryable, userId: string, tokenHash: string, at: Date): Promise<void> => {
  await db.query(
    `insert into gateway.known_browsers (user_id, token_hash, last_used_at) values ($1, $2, $3)
     on conflict (user_id, token_hash) do update set last_used_at = excluded.last_used_at`,
    [userId, tokenHash, at],
  );
};
