import { AppError, invalidRequest, PasskeyId } from '@cpg/contracts';
import { newId, type SecretBox } from '@cpg/platform';
import { type Pool, transaction } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { recordChange } from '../../audit/record-change.ts';
import { changeBy } from '../../door/request.ts';
import { sessionOf } from '../../door/sessions/authenticate-session.ts';
import { siteOf } from '../../door/sessions/site.ts';
import { useChallenge } from '../../identity/challenges.ts';
import { deletePasskey, insertPasskey, type Passkey, passkeysOf } from '../../identity/passkey-store.ts';
import { checkNewPasskey, creationOptions } from '../../identity/passkeys.ts';
import { isRecentSignIn, type OpenSession } from '../../identity/sessions.ts';
import { NoBody, notFound, parseId, pathId } from '../ids.ts';
import { profileName } from '../payment-page/payment-page-settings.ts';
import { NewPasskeyDto } from './session-schemas.ts';

export interface PasskeyRouteOptions {
  readonly pool: Pool;
  /** Encrypts challenges. */
  readonly box: SecretBox;
  readonly now: () => Date;
}

const MAX_PASSKEYS = 20;

/** `/v1/account/passkeys`: the passkeys of the signed-in user. */
export const passkeyRoutes: FastifyPluginAsyncZod<PasskeyRouteOptions> = async (app, { pool, box, now }) => {
  app.post('/account/passkeys/options', { schema: { hide: true, body: NoBody } }, async (request) => {
    const session = sessionOf(request);
    requireRecentSignIn(session, now());
    const { user_id: id, email, name } = session;
    const others = await passkeysOf(pool, id);
    requireRoom(others);
    const ceremony = { site: siteOf(request), box, at: now() };
    return creationOptions({ id, email, name }, { siteName: profileName(session), others }, ceremony);
  });

  app.post('/account/passkeys', { schema: { hide: true, body: NewPasskeyDto } }, async (request, reply) => {
    const session = sessionOf(request);
    const at = now();
    requireRecentSignIn(session, at);
    requireRoom(await passkeysOf(pool, session.user_id));
    const { name, response } = request.body;
    const ceremony = { site: siteOf(request), box, at };
    const checked = await checkNewPasskey(response, session.user_id, ceremony).catch((cause: unknown) => {
      request.log.info({ user: session.user_id, reason: String(cause), requestId: request.id }, 'refused a passkey');
      throw invalidRequest([{ path: 'response', message: 'is not valid: start again' }]);
    });
    const passkey = { ...checked.passkey, id: newId('passkey', at), name, created_at: at };
    await transaction(pool, async (db) => {
      if (!(await useChallenge(db, checked.challenge)) || !(await insertPasskey(db, passkey)))
        throw invalidRequest([{ path: 'response', message: 'is of a passkey that was added before' }]);
      const changes = { passkey: { before: null, after: passkey.id } };
      const subject = { merchantId: session.merchant_id, subject: session.user_id };
      await recordChange(db, { type: 'PasskeyAdded', ...subject, changes }, changeBy(request, at));
    });
    request.log.info({ user: session.user_id, passkey: passkey.id, requestId: request.id }, 'a user added a passkey');
    return reply.code(201).send(shownPasskey({ ...passkey, last_used_at: null }));
  });

  app.get('/account/passkeys', { schema: { hide: true } }, async (request) => ({
    items: (await passkeysOf(pool, sessionOf(request).user_id)).map(shownPasskey),
  }));

  app.delete('/account/passkeys/:id', { schema: { hide: true, params: pathId('passkey') } }, async (request) => {
    const id = parseId(PasskeyId, 'passkey', request.params.id);
    const { merchant_id: merchantId, user_id: user } = sessionOf(request);
    await transaction(pool, async (db) => {
      if (!(await deletePasskey(db, user, id))) throw notFound('passkey');
      const changes = { passkey: { before: id, after: null } };
      await recordChange(db, { type: 'PasskeyRemoved', merchantId, subject: user, changes }, changeBy(request, now()));
    });
    request.log.info({ user, passkey: id, requestId: request.id }, 'a user deleted a passkey');
    return { id, deleted: true as const };
  });
};

/** A passkey outlives its session and a new password: somebody with a stolen session must not be able to add one. */
const requireRecentSignIn = (session: OpenSession, at: Date): void => {
  if (isRecentSignIn(session, at)) return;
  throw new AppError('sign_in_again', 'you signed in more than an hour ago: sign in again to add a passkey');
};

const requireRoom = (passkeys: readonly Passkey[]): void => {
  if (passkeys.length >= MAX_PASSKEYS)
    throw new AppError('too_many_passkeys', `you have ${MAX_PASSKEYS} passkeys: delete one that you no longer use`);
};

const shownPasskey = (passkey: Pick<Passkey, 'id' | 'name' | 'is_backed_up' | 'created_at' | 'last_used_at'>) => ({
  id: passkey.id,
  name: passkey.name,
  is_backed_up: passkey.is_backed_up,
  created_at: passkey.created_at.toISOString(),
  ...(passkey.last_used_at && { last_used_at: passkey.last_used_at.toISOString() }),
});
