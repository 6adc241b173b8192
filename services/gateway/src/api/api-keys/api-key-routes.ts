import { ApiKeyId, AppError, invalidRequest } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { type ApiKey as Key, type KeyEnvironment } from '../../door/keys/api-key.ts';
import { type Credential, credentialById, credentialByKid } from '../../door/keys/credentials.ts';
import { callerOf, changeBy } from '../../door/request.ts';
import { ROLES } from '../../identity/roles.ts';
import { orNotFound, parseId } from '../ids.ts';
import { listApiKeys, showApiKey } from './api-key-list.ts';
import * as schemas from './api-key-schemas.ts';
import { createKey, revokeKey, rotateKey, updateKey } from './key-changes.ts';
import { excessOf, type Permissions } from './permissions.ts';

export interface ApiKeyRouteOptions {
  readonly pool: Pool;
  /** The environment of new keys. */
  readonly keyEnvironment: KeyEnvironment;
  /** Hashes new keys. */
  readonly pepper: string;
  readonly now: () => Date;
}

const READ = { scope: 'api-keys:self:read' } as const;
const UPDATE = { scope: 'api-keys:self:update' } as const;
const REVOKE = { scope: 'api-keys:self:revoke', shows: 'api key' } as const;
const ROTATE = { ...UPDATE, shows: 'api key', responseHasSecret: true } as const;
const CREATE = {
  scope: 'api-keys:self:create',
  shows: 'api key',
  creates: '/v1/api-keys/key_{seed}',
  responseHasSecret: true,
} as const;

/** `/v1/api-keys`: the keys of the merchant. */
export const apiKeyRoutes: FastifyPluginAsyncZod<ApiKeyRouteOptions> = async (app, options) => {
  const { pool, keyEnvironment: environment, pepper, now } = options;
  const find = async (request: FastifyRequest, id: string): Promise<Credential> =>
    orNotFound('apiKey', await credentialById(pool, callerOf(request).merchantId, parseId(ApiKeyId, 'apiKey', id)));
  /** What the caller may do, from where, and until when. A user may from everywhere, without end. */
  const ownPermissions = async (request: FastifyRequest): Promise<Permissions> => {
    const caller = callerOf(request);
    if (caller.by === 'user')
      return { scopes: [...ROLES[caller.session.role].scopes], allowed_ips: [], expires_at: null };
    const key = await credentialByKid(pool, caller.kid);
    if (!key) throw new Error('the key of an authenticated request does not exist');
    return key;
  };
  /** Refuses more than the caller may do. */
  const permitBy = (own: Permissions) => (wanted: Permissions) => {
    const details = excessOf(wanted, own);
    const message = 'a key gives only what it may do itself';
    if (details.length > 0) throw new AppError('permission_exceeded', message, { details });
  };
  const logChange = (request: FastifyRequest, kid: string, what: string): void =>
    request.log.info({ kid, by: callerOf(request).actor, requestId: request.id }, what);
  const answer = async ({ kid, text }: Key, request: FastifyRequest, what: string) => {
    logChange(request, kid, what);
    return { ...(await showApiKey(pool, (await credentialByKid(pool, kid))!, now())), key: text };
  };

  app.post('/api-keys', { config: CREATE, schema: schemas.createApiKey }, async (request, reply) => {
    const { merchantId } = callerOf(request);
    const own = await ownPermissions(request);
    const { scopes, label, allowed_ips: ips = own.allowed_ips, expires_at: end = own.expires_at } = request.body;
    const at = now();
    if (end !== null && end <= at) throw invalidRequest([{ path: 'expires_at', message: 'is in the past' }]);
    permitBy(own)({ scopes, allowed_ips: ips, expires_at: end });
    const spec = { merchantId, environment, scopes, label, allowedIps: ips, expiresAt: end };
    const key = await createKey(pool, spec, { id: `key_${request.seed}`, pepper, change: changeBy(request, at) });
    return reply.code(201).send(await answer(key, request, 'created an API key'));
  });

  app.get('/api-keys', { config: READ, schema: schemas.listApiKeys }, (request) =>
    listApiKeys(pool, callerOf(request).merchantId, request.query, now()),
  );

  app.get('/api-keys/:id', { config: READ, schema: schemas.getApiKey }, async (request) =>
    showApiKey(pool, await find(request, request.params.id), now()),
  );

  app.patch('/api-keys/:id', { config: UPDATE, schema: schemas.updateApiKey }, async (request) => {
    const { kid } = await find(request, request.params.id);
    const { scopes, label, allowed_ips: ips } = request.body;
    const changes = {
      ...(scopes && { scopes }),
      ...(ips && { allowedIps: ips }),
      ...(label !== undefined && { label }),
    };
    // A new label gives nobody more.
    const permit = scopes || ips ? { permit: permitBy(await ownPermissions(request)) } : {};
    const changed = await updateKey(pool, kid, changes, { change: changeBy(request, now()), ...permit });
    logChange(request, kid, 'changed an API key');
    return showApiKey(pool, changed, now());
  });

  app.post('/api-keys/:id/rotate', { config: ROTATE, schema: schemas.rotateApiKey }, async (request, reply) => {
    const { kid } = await find(request, request.params.id);
    const key = await rotateKey(pool, kid, {
      id: `key_${request.seed}`,
      overlapMs: schemas.overlapMsOf(request.body),
      pepper,
      change: changeBy(request, now()),
      permit: permitBy(await ownPermissions(request)),
    });
    return reply.code(201).send(await answer(key, request, 'rotated an API key'));
  });

  app.post('/api-keys/:id/revoke', { config: REVOKE, schema: schemas.revokeApiKey }, async (request, reply) => {
    const { id, kid, merchant_id: merchantId } = await find(request, request.params.id);
    if (await revokeKey(pool, kid, changeBy(request, now()))) logChange(request, kid, 'revoked an API key');
    return reply.code(201).send(await showApiKey(pool, (await credentialById(pool, merchantId, id))!, now()));
  });
};
