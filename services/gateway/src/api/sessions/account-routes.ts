import { AppError, invalidRequest } from '@cpg/contracts';
import type { SecretBox } from '@cpg/platform';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { recordChange } from '../../audit/record-change.ts';
import { changeBy } from '../../door/request.ts';
import { sessionOf } from '../../door/sessions/authenticate-session.ts';
import { hashPassword, passwordFault, verifyPassword } from '../../identity/passwords.ts';
import { endSessions, needsCurrentPassword, type OpenSession } from '../../identity/sessions.ts';
import { deleteLinks } from '../../identity/sign-in-links.ts';
import { isRightCode } from '../../identity/sign-in.ts';
import { accountOf, beginAttempt, forgetAttempt } from '../../identity/sign-in-attempts.ts';
import { hashOfRecoveryCode, newRecoveryCodes, newTotp, stepOf } from '../../identity/totp.ts';
import {
  acceptTotpStep,
  confirmTotp,
  deleteRecoveryCodes,
  setPassword,
  setTotp,
  totpRow,
  type User,
  userById,
} from '../../identity/users.ts';
import { NoBody } from '../ids.ts';
import { changeUser } from '../users/user-changes.ts';
import { profileName } from '../payment-page/payment-page-settings.ts';
import { AccountDto, CodeDto, PasswordDto } from './session-schemas.ts';

export interface AccountRouteOptions {
  readonly pool: Pool;
  readonly box: SecretBox;
  readonly now: () => Date;
}

/** `/v1/account`: what signed-in users change of themselves. */
export const accountRoutes: FastifyPluginAsyncZod<AccountRouteOptions> = async (app, { pool, box, now }) => {
  const signedInUser = async (request: FastifyRequest): Promise<User> => {
    const { merchant_id: merchantId, user_id: id } = sessionOf(request);
    const user = await userById(pool, merchantId, id);
    if (!user) throw new Error('the user of an open session does not exist');
    return user;
  };
  const logChange = (request: FastifyRequest, what: string): void =>
    request.log.info({ user: sessionOf(request).user_id, requestId: request.id }, what);
  /** Records what users change of themselves. */
  const record = (
    db: Queryable,
    request: FastifyRequest,
    type: 'PasswordChanged' | 'TotpAdded' | 'TotpRemoved',
  ): Promise<void> => {
    const { merchant_id: merchantId, user_id: subject } = sessionOf(request);
    return recordChange(db, { type, merchantId, subject }, changeBy(request, now()));
  };

  /** Counts wrong passwords and codes of a session, which may be a stolen one, as a sign-in does. */
  const checked = async (user: User, path: string, check: () => Promise<boolean>): Promise<void> => {
    const attempt = await beginAttempt(pool, { account: accountOf(user.email, user), browser: 'session' }, now());
    if ('retryAfterSeconds' in attempt)
      throw new AppError('rate_limited', `too many attempts: try again in ${attempt.retryAfterSeconds} seconds`);
    if (!(await check())) throw invalidRequest([{ path, message: 'is wrong' }]);
    await forgetAttempt(pool, attempt.id);
  };

  app.patch('/account', { schema: { hide: true, body: AccountDto } }, async (request) => {
    const { name } = request.body;
    const { merchant_id: merchantId, user_id: id } = sessionOf(request);
    await changeUser(pool, { merchantId, id }, { name }, { ...changeBy(request, now()), manager: null });
    return { name };
  });

  app.post('/account/password', { schema: { hide: true, body: PasswordDto } }, async (request) => {
    const { password, current_password: current } = request.body;
    const session = sessionOf(request);
    const user = await signedInUser(request);
    const fault = passwordFault(password, wordsOf(session));
    if (fault !== null) throw invalidRequest([{ path: 'password', message: fault }]);
    if (needsCurrentPassword(session, now())) {
      if (current === undefined) throw invalidRequest([{ path: 'current_password', message: 'is required' }]);
      await checked(user, 'current_password', () => verifyPassword(current, user.password_hash));
    }
    const hash = await hashPassword(password);
    await transaction(pool, async (db) => {
      await setPassword(db, user.id, hash, now());
      await endSessions(db, user.id, session.id);
      await deleteLinks(db, user.id);
      await record(db, request, 'PasswordChanged');
    });
    logChange(request, 'a user set a password');
    return { has_password: true };
  });

  app.post('/account/totp', { schema: { hide: true, body: NoBody } }, async (request, reply) => {
    const user = await signedInUser(request);
    if (user.totp_confirmed_at !== null) throw totpEnabled();
    const totp = newTotp({ issuer: profileName(sessionOf(request)), email: user.email });
    await setTotp(pool, user.id, box.seal(totp.secret, totpRow(user.id)), now());
    return reply.code(201).send(totp);
  });

  app.post('/account/totp/confirm', { schema: { hide: true, body: CodeDto } }, async (request, reply) => {
    const user = await signedInUser(request);
    const { totp_box: sealed } = user;
    if (user.totp_confirmed_at !== null) throw totpEnabled();
    if (sealed === null)
      throw invalidRequest([{ path: 'code', message: 'is of no app: start with POST /v1/account/totp' }]);
    await checked(user, 'code', async () => {
      const step = stepOf(request.body.code, box.open(sealed, totpRow(user.id)), now());
      return step !== null && acceptTotpStep(pool, user.id, step);
    });
    const codes = newRecoveryCodes();
    await transaction(pool, async (db) => {
      await confirmTotp(db, user.id, codes.map(hashOfRecoveryCode), now());
      await record(db, request, 'TotpAdded');
    });
    logChange(request, 'a user added an authenticator app');
    return reply.code(201).send({ recovery_codes: codes });
  });

  app.post('/account/totp/remove', { schema: { hide: true, body: CodeDto } }, async (request) => {
    const user = await signedInUser(request);
    if (user.totp_confirmed_at !== null)
      await checked(user, 'code', () => isRightCode(user, request.body.code, { pool, box, at: now() }));
    await transaction(pool, async (db) => {
      await setTotp(db, user.id, null, now());
      await deleteRecoveryCodes(db, user.id);
      if (user.totp_confirmed_at !== null) await record(db, request, 'TotpRemoved');
    });
    logChange(request, 'a user removed the authenticator app');
    return { has_totp: false };
  });
};

const totpEnabled = (): AppError => new AppError('totp_enabled', 'remove the authenticator app that you have first');

/** What an attacker tries first. */
const wordsOf = (session: OpenSession): string[] => [
  ...session.email.split('@'),
  ...(session.name?.split(' ') ?? []),
  profileName(session),
];
