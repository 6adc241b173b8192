import { INTERNAL_HEADERS } from '@cpg/contracts';
import { type CallContext, type CallerTokens, readCallContext, requireCaller } from './callers.ts';
import { createApp } from './app.ts';
import { createLogger } from '../log/logger.ts';

const TOKENS = {
  gateway: ['the new token', 'the old token'],
  payments: ['the token of payments'],
  admin: ['the token of commands'],
} satisfies CallerTokens;

const createService = () => {
  const app = createApp({ log: createLogger({ name: 'test', level: 'silent' }) });
  const contexts: CallContext[] = [];
  requireCaller(app, TOKENS);
  app.get('/money', { config: { callers: ['gateway'] } }, async (request) => {
    contexts.push({ ...readCallContext(request) });
    return 'served';
  });
  app.get('/read', { config: { callers: ['gateway', 'payments', 'admin'] } }, async (request) => {
    contexts.push({ ...readCallContext(request) });
    return 'served';
  });
  return { app, contexts };
};

test('every token of a caller is accepted, and no other', async () => {
  const { app } = createService();
  const statusFor = async (authorization?: string) =>
    (await app.inject({ url: '/money', headers: authorization ? { authorization } : {} })).statusCode;
  expect(await statusFor('Bearer the new token')).toBe(200);
  expect(await statusFor('Bearer the old token')).toBe(200);
  for (const wrong of [
    'the new token',
    'Bearer the old toke',
    'Bearer the old tokem',
    'Bearer the old tokén',
    'Bearer the old token0',
    'Bearer the new token,the old token',
    'Bearer ',
    undefined,
  ])
    expect(await statusFor(wrong)).toBe(401);
});

test('a caller is admitted to its own routes alone', async () => {
  const { app } = createService();
  const status = async (url: string, token: string) =>
    (await app.inject({ url, headers: { authorization: `Bearer ${token}` } })).statusCode;
  expect(await status('/money', TOKENS.payments[0]!)).toBe(403);
  expect(await status('/read', TOKENS.payments[0]!)).toBe(200);
});

test('a route that does not say who may call it fails the start', () => {
  const { app } = createService();
  expect(() => app.get('/forgotten', async () => 'served')).toThrow('GET /forgotten does not say who may call it');
});

test.each([
  ['names the request of a caller', TOKENS, true],
  ['has nothing that a stranger sent', null, false],
])('the log %s', async (_, tokens, named) => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const app = createApp({ log: createLogger({ name: 'test', level: 'error', destination }) });
  if (tokens) requireCaller(app, tokens);
  app.get('/broken', { config: { callers: ['gateway'] } }, async () => {
    throw new Error('a bug');
  });
  const headers = { authorization: 'Bearer the new token', [INTERNAL_HEADERS.requestId]: 'req_of_the_gateway' };
  expect((await app.inject({ url: '/broken', headers })).statusCode).toBe(500);
  expect(lines.map((line) => line.includes('req_of_the_gateway'))).toEqual([named]);
});

test.each([
  ['gateway', 'key:3b9f5c1d7e2a', 'key:3b9f5c1d7e2a'],
  ['gateway', 'user:usr_01KG9Q0C3D4E5F6G7H8J9K0M1N', 'user:usr_01KG9Q0C3D4E5F6G7H8J9K0M1N'],
  ['gateway', 'debug', 'debug'],
  ['gateway', 'service:orders', 'service:gateway'],
  ['gateway', 'admin', 'service:gateway'],
  ['gateway', undefined, 'service:gateway'],
  ['payments', 'key:3b9f5c1d7e2a', 'service:payments'],
  ['payments', 'user:usr_01KG9Q0C3D4E5F6G7H8J9K0M1N', 'service:payments'],
  ['admin', 'service:orders', 'admin'],
] as const)('a call of %s that names the actor %s is recorded as %s', async (caller, named, recorded) => {
  const { app, contexts } = createService();
  const headers = { authorization: `Bearer ${TOKENS[caller][0]}`, ...(named && { [INTERNAL_HEADERS.actor]: named }) };
  expect((await app.inject({ url: '/read', headers })).statusCode).toBe(200);
  expect(contexts[0]!.actor).toBe(recorded);
});
