import { createApp } from './http.ts';
import { requireInternalToken } from './internal-token.ts';
import { createLogger } from './logger.ts';

test('every token of the list is accepted, and no other', async () => {
  const app = createApp({ log: createLogger({ name: 'test', level: 'silent' }) });
  requireInternalToken(app, ['the new token', 'the old token']);
  app.get('/', async () => 'served');
  const statusFor = async (authorization?: string) =>
    (await app.inject({ url: '/', headers: authorization ? { authorization } : {} })).statusCode;
  expect(await statusFor('Bearer the new token')).toBe(200);
  expect(await statusFor('Bearer the old token')).toBe(200);
  for (const wrong of ['Bearer the old toke', 'Bearer the new token,the old token', 'Bearer ', undefined])
    expect(await statusFor(wrong)).toBe(401);
});
