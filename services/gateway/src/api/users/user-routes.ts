import { UserId } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { type Caller, callerOf, changeBy } from '../../door/request.ts';
import { Role, ROLES } from '../../identity/roles.ts';
import { pathOfLink, type SignInLink } from '../../identity/sign-in-links.ts';
import { changeUser, createUser, makeLinkFor, removeUser, type UserChange } from './user-changes.ts';
import { userById } from '../../identity/users.ts';
import { orNotFound, parseId, withNotFound } from '../ids.ts';
import { listUsers, shownUser } from './user-list.ts';
import * as schemas from './user-schemas.ts';

export interface UserRouteOptions {
  readonly pool: Pool;
  readonly now: () => Date;
}

const READ = { scope: 'users:self:read' } as const;
const UPDATE = { scope: 'users:self:update' } as const;
const CREATE = {
  scope: 'users:self:create',
  shows: 'user',
  creates: '/v1/users/usr_{seed}',
  responseHasSecret: true,
} as const;
const LINK = { ...UPDATE, shows: 'user', responseHasSecret: true } as const;

/** `/v1/users`: the people who sign in for the merchant. `/v1/roles`: what they may do. */
export const userRoutes: FastifyPluginAsyncZod<UserRouteOptions> = async (app, { pool, now }) => {
  const named = (request: FastifyRequest, id: string) =>
    ({ merchantId: callerOf(request).merchantId, id: parseId(UserId, 'user', id) }) as const;
  const changeOf = (request: FastifyRequest): UserChange => {
    const caller = callerOf(request);
    return { ...changeBy(request, now()), manager: { scopes: caller.scopes, role: roleOf(caller) } };
  };
  const logChange = (request: FastifyRequest, user: string, what: string): void =>
    request.log.info({ user, by: callerOf(request).actor, requestId: request.id }, what);

  app.get('/roles', { config: READ, schema: schemas.listRoles }, () => ({
    items: Role.options.map((role) => ({ role, ...ROLES[role], scopes: [...ROLES[role].scopes] })),
  }));

  app.get('/users', { config: READ, schema: schemas.listUsers }, (request) =>
    listUsers(pool, callerOf(request).merchantId, request.query),
  );

  app.get('/users/:id', { config: READ, schema: schemas.getUser }, async (request) => {
    const { merchantId, id } = named(request, request.params.id);
    return shownUser(orNotFound('user', await userById(pool, merchantId, id)));
  });

  app.post('/users', { config: CREATE, schema: schemas.createUser }, async (request, reply) => {
    const { merchantId } = callerOf(request);
    const { email, name = null, role } = request.body;
    const id = `usr_${request.seed}`;
    const link = await createUser(pool, { id, merchantId, email, name, role }, changeOf(request));
    logChange(request, id, 'invited a user');
    const user = shownUser((await userById(pool, merchantId, id))!);
    return reply.code(201).send({ ...user, sign_in_link: urlOf(request, link) });
  });

  app.patch('/users/:id', { config: UPDATE, schema: schemas.updateUser }, async (request) => {
    const user = named(request, request.params.id);
    const { name, role, status } = request.body;
    const changes = { ...(name !== undefined && { name }), ...(role && { role }), ...(status && { status }) };
    const changed = await withNotFound('user', changeUser(pool, user, changes, changeOf(request)));
    logChange(request, user.id, 'changed a user');
    return shownUser(changed);
  });

  app.post('/users/:id/sign-in-links', { config: LINK, schema: schemas.createSignInLink }, async (request, reply) => {
    const user = named(request, request.params.id);
    const removeTotp = request.body.remove_totp ?? false;
    const link = await withNotFound('user', makeLinkFor(pool, { ...user, removeTotp }, changeOf(request)));
    logChange(request, user.id, removeTotp ? 'made a sign-in link and removed the app' : 'made a sign-in link');
    return reply.code(201).send({ sign_in_link: urlOf(request, link), expires_at: link.expiresAt.toISOString() });
  });

  app.delete('/users/:id', { config: { scope: 'users:self:delete' }, schema: schemas.deleteUser }, async (request) => {
    const user = named(request, request.params.id);
    await withNotFound('user', removeUser(pool, user, changeOf(request)));
    logChange(request, user.id, 'deleted a user');
    return { id: user.id, deleted: true as const };
  });
};

const roleOf = (caller: Caller): Role | null => (caller.by === 'user' ? caller.session.role : null);

/** The link as its user opens it, at the address that the caller uses. */
const urlOf = ({ protocol, host }: FastifyRequest, link: SignInLink): string =>
  `${protocol}://${host}${pathOfLink(link)}`;
