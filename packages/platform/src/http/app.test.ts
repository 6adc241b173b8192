import { createApp } from './app.ts';
import { createLogger } from '../log/logger.ts';

const app = createApp({ log: createLogger({ name: 'test', level: 'silent' }) });
app.get('/things/:id', async () => ({}));
afterAll(() => app.close());

test.each([
  ['a path that cannot be decoded', '/things/%ff'],
  ['a parameter that is too long', `/things/${'x'.repeat(600)}`],
  ['an unknown path', '/nothing'],
])('%s is answered with 404 and the common error body', async (_, url) => {
  const answer = await app.inject(url);
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toEqual({
    error: 'Not Found',
    message: expect.stringMatching(/^there is no/),
    statusCode: 404,
    code: 'not_found',
    request_id: expect.stringMatching(/^req_/),
  });
});
