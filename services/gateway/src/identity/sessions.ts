import type { Merchant } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { User } from './users.ts';

// A browser that is not used for half a day signs in again, and every browser once a week.
const IDLE_MS = 12 * 60 * 60_000;
const LIFETIME_MS = 7 * 24 * 60 * 60_000;
/** The time of the last request is stored once a minute. */
const SEEN_EVERY_MS = 60_000;

export type SignInMethod = 'password' | 'link' | 'passkey' | 'oidc';

/** A stored session, without its token. */
export interface Session {
  readonly id: string;
  readonly user_id: string;
  readonly method: SignInMethod;
  readonly address: string;
  readonly user_agent: string | null;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
}

/** A session with the fields of its user and merchant that requests need. */
export type OpenSession = Session &
  Pick<User, 'merchant_id' | 'email' | 'name' | 'role'> &
  Pick<Merchant, 'payment_methods' | 'business_profile' | 'individual_profile'> & {
    readonly has_password: boolean;
    readonly has_totp: boolean;
    readonly merchant_disabled_at: Date | null;
  };

const RECENT_SIGN_IN_MS = 60 * 60_000;

/** Whether the session began within the last hour: then somebody signed in, and did not only find an open browser. */
export const isRecentSignIn = ({ created_at }: Pick<Session, 'created_at'>, at: Date): boolean =>
  at.getTime() - created_at.getTime() < RECENT_SIGN_IN_MS;

/** Whether the user of the session needs the password to set another one. Who just signed in by a link may have
 *  forgotten it. */
export const needsCurrentPassword = (session: OpenSession, at: Date): boolean =>
  session.has_password && !(session.method === 'link' && isRecentSignIn(session, at));

const SESSION_COLUMNS = 'id, user_id, method, address, user_agent, created_at, last_seen_at, expires_at';

/** The session of a token that works at `at`: it has not ended, and its user is not disabled. */
export const openSession = async (db: Queryable, tokenHash: string, at: Date): Promise<OpenSession | null> => {
  const { rows } = await db.query<OpenSession>(
    `select s.id, s.user_id, s.method, s.address, s.user_agent, s.created_at, s.last_seen_at, s.expires_at,
            u.merchant_id, u.email, u.name, u.role, u.password_hash is not null as has_password,
            u.totp_confirmed_at is not null as has_totp,
            m.payment_methods, m.business_profile, m.individual_profile, m.disabled_at as merchant_disabled_at
       from gateway.sessions s
       join gateway.users u on u.id = s.user_id
       join gateway.merchants m on m.id = u.merchant_id
      where s.token_hash = $1 and s.expires_at > $2 and s.last_seen_at > $3 and u.disabled_at is null`,
    [tokenHash, at, new Date(at.getTime() - IDLE_MS)],
  );
  return rows[0] ?? null;
};

/** Stores that the session was used, unless that was stored within the last minute. */
export const markSeen = async (db: Queryable, { id, last_seen_at: last }: Session, at: Date): Promise<void> => {
  if (at.getTime() - last.getTime() < SEEN_EVERY_MS) return;
  await db.query('update gateway.sessions set last_seen_at = greatest(last_seen_at, $2) where id = $1', [id, at]);
};

export type NewSession = Pick<Session, 'id' | 'user_id' | 'method' | 'address' | 'user_agent'>;

/** Starts a session, and notes that its user signed in. Returns when it ends at the latest. */
export const startSession = async (
  db: Queryable,
  { id, user_id, method, address, user_agent }: NewSession,
  tokenHash: string,
  at: Date,
): Promise<Date> => {
  const expiresAt = new Date(at.getTime() + LIFETIME_MS);
  await db.query(
    `insert into gateway.sessions (id, user_id, token_hash, method, address, user_agent, created_at, last_seen_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $7, $8)`,
    [id, user_id, tokenHash, method, address, user_agent, at, expiresAt],
  );
  await db.query('update gateway.users set last_signed_in_at = $2 where id = $1', [user_id, at]);
  return expiresAt;
};

/** The sessions of a user that work at `at`, newest first. */
export const sessionsOf = async (db: Queryable, userId: string, at: Date): Promise<Session[]> => {
  const { rows } = await db.query<Session>(
    `select ${SESSION_COLUMNS} from gateway.sessions
      where user_id = $1 and expires_at > $2 and last_seen_at > $3 order by created_at desc, id desc`,
    [userId, at, new Date(at.getTime() - IDLE_MS)],
  );
  return rows;
};

/** Ends a session of the user. Returns false if the user has no such session. */
export const endSession = async (db: Queryable, userId: string, id: string): Promise<boolean> => {
  const { rowCount } = await db.query('delete from gateway.sessions where id = $1 and user_id = $2', [id, userId]);
  return rowCount === 1;
};

/** Ends all sessions of the user but `except`. */
export const endSessions = async (db: Queryable, userId: string, except: string | null = null): Promise<void> => {
  await db.query('delete from gateway.sessions where user_id = $1 and id is distinct from $2', [userId, except]);
};

/** Ends the session of the cookie that a browser brings to a sign-in. */
export const endSessionOfToken = async (db: Queryable, tokenHash: string): Promise<void> => {
  await db.query('delete from gateway.sessions where token_hash = $1', [tokenHash]);
};

/** Deletes what no longer works: sessions, links, answered challenges, and attempts that no longer count. Returns how
 *  many rows that were. */
export const deleteEndedSignIns = async (db: Queryable, at: Date): Promise<number> => {
  const day = 24 * 60 * 60_000;
  const counts = [
    await db.query('delete from gateway.sessions where expires_at <= $1 or last_seen_at <= $2', [
      at,
      new Date(at.getTime() - IDLE_MS),
    ]),
    await db.query('delete from gateway.sign_in_links where expires_at <= $1', [at]),
    await db.query('delete from gateway.used_challenges where expires_at <= $1', [at]),
    await db.query('delete from gateway.sign_in_attempts where attempted_at <= $1', [new Date(at.getTime() - day)]),
    await db.query('delete from gateway.known_browsers where last_used_at <= $1', [new Date(at.getTime() - 180 * day)]),
  ];
  return counts.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
};
