import { AppError, ERROR_CODES, type ErrorCode } from '@cpg/contracts';
import { z } from 'zod';
import { healthRoutes } from './health.ts';
import { BODY_LIMIT_BYTES } from './http-errors.ts';
import { createApp } from './app.ts';
import { createLogger } from '../log/logger.ts';

const TRANSIENT_ERROR = new Error('ECONNREFUSED 10.0.0.7:5432');

let thrown: unknown;

const app = createApp({
  log: createLogger({ name: 'test', level: 'silent' }),
  isTransientError: (error) => error === TRANSIENT_ERROR,
});
app.get('/throw', async () => {
  throw thrown;
});
const body = z.strictObject({ amount: z.string(), lines: z.array(z.strictObject({ count: z.int() })) });
app.post('/things', { schema: { body } }, async (request) => request.body);
healthRoutes(app, {
  database: async () => 1,
  broker: async () => {
    throw new Error('unavailable');
  },
  store: () => new Promise(() => {}),
});

afterAll(() => app.close());

const answerTo = async (error: unknown) => {
  thrown = error;
  return app.inject('/throw');
};
const post = (payload: string, type = 'application/json') =>
  app.inject({ method: 'POST', url: '/things', headers: { 'content-type': type }, payload });

describe('an AppError', () => {
  test.each(Object.entries(ERROR_CODES))(
    '%s is answered with status %d, its code and the request id',
    async (code, status) => {
      const answer = await answerTo(new AppError(code as ErrorCode, 'because'));
      expect(answer.statusCode).toBe(status);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      const passes = status === 503 || ['idempotency_key_in_use', 'concurrent_update'].includes(code);
      expect(answer.headers['retry-after']).toBe(passes ? '1' : undefined);
      expect(answer.json()).toEqual({
        error: expect.any(String),
        message: expect.any(String),
        statusCode: status,
        code,
        request_id: expect.stringMatching(/^req_/),
      });
    },
  );

  test.each<[ErrorCode, string, string]>([
    ['unauthorized', 'Unauthorized', 'Invalid API key provided'],
    ['insufficient_scope', 'Forbidden', 'Insufficient scope'],
    ['rate_limited', 'Rate limit exceeded', 'Too many requests. Please try again later.'],
  ])('%s has the texts of the API reference', async (code, error, message) => {
    expect((await answerTo(new AppError(code, 'an internal reason'))).json()).toMatchObject({
      error,
      message,
    });
  });

  test('carries its details', async () => {
    const details = [{ path: 'items.0', message: 'is wrong' }];
    expect((await answerTo(new AppError('invalid_request', 'no', { details }))).json()).toMatchObject({ details });
  });
});

test('an unexpected error is answered with 500 and hides its message', async () => {
  const answer = await answerTo(new Error('column "secret_box" does not exist'));
  expect(answer.statusCode).toBe(500);
  expect(answer.json()).toMatchObject({ code: 'internal_error', error: 'Internal Server Error' });
  expect(answer.body).not.toMatch('secret_box');
});

test('a transient error is answered with 503 and Retry-After, and hides its message', async () => {
  const answer = await answerTo(TRANSIENT_ERROR);
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('1');
  expect(answer.json()).toMatchObject({ code: 'dependency_unavailable' });
  expect(answer.body).not.toMatch('10.0.0.7');
});

describe('a request body', () => {
  test('is parsed when it is valid', async () => {
    const valid = { amount: '1', lines: [{ count: 1 }] };
    expect((await post(JSON.stringify(valid))).json()).toEqual(valid);
  });

  test('is rejected with the path of every invalid or unknown field', async () => {
    const answer = await post(JSON.stringify({ lines: [{ count: 1.5, colour: 'red' }], tip: 1 }));
    expect(answer.statusCode).toBe(400);
    const paths = answer.json<{ details: { path: string; message: string }[] }>().details.map(({ path }) => path);
    expect(paths.sort()).toEqual(['amount', 'lines.0.colour', 'lines.0.count', 'tip']);
    expect(answer.json()).toMatchObject({
      details: expect.arrayContaining([{ path: 'tip', message: 'is not a known field: the fields are amount, lines' }]),
    });
  });

  test.each([
    ['not JSON', '{"amount":'],
    ['empty', ''],
    ['a prototype pollution attempt', '{"__proto__":{"admin":true}}'],
    ['an array', '[]'],
    ['null', 'null'],
  ])('is rejected with 400 when it is %s', async (_, payload) => {
    const answer = await post(payload);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'invalid_request', error: 'Bad Request' });
  });

  test('is rejected with 413 when it is too large and with 415 when it is not JSON', async () => {
    expect((await post(' '.repeat(BODY_LIMIT_BYTES + 1))).json()).toMatchObject({
      statusCode: 413,
      code: 'payload_too_large',
    });
    expect((await post('amount=1', 'application/x-www-form-urlencoded')).json()).toMatchObject({
      statusCode: 415,
      code: 'unsupported_media_type',
    });
  });
});

test('a running process is healthy, but not ready while a check fails or times out', async () => {
  expect((await app.inject('/health')).json()).toEqual({ status: 'ok' });
  const ready = await app.inject('/health/ready');
  expect(ready.statusCode).toBe(503);
  expect(ready.headers['retry-after']).toBe('1');
  expect(ready.json()).toEqual({ status: 'unavailable', missing: ['broker', 'store'] });
});
