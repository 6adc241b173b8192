import {
  AppError,
  ERROR_CODES,
  type ErrorCode,
  invalidRequest,
  isAppError,
  isTemporary,
  nullIfNotFound,
  outcomeUnknown,
} from './errors.ts';

test.each(Object.entries(ERROR_CODES))('%s has the status of an error: %d', (code, status) => {
  const error = new AppError(code as ErrorCode, 'because');
  expect(error.statusCode).toBe(status);
  expect(status >= 400 && status < 600).toBe(true);
});

test('codes are snake_case, as callers see them', () => {
  expect(Object.keys(ERROR_CODES).filter((code) => !/^[a-z]+(_[a-z]+)*$/.test(code))).toEqual([]);
});

test('a refusal keeps its cause, and names the faults of the request', () => {
  const cause = new Error('socket closed');
  const details = [{ path: 'items.0.quantity', message: 'must be positive' }];
  expect(new AppError('invalid_request', 'no', { details, cause })).toMatchObject({ details, cause, name: 'AppError' });
  expect(new AppError('not_found', 'no')).not.toHaveProperty('cause');
  expect(new AppError('not_found', 'no').details).toEqual([]);
});

test('a refusal can be told from a bug, and from refusals with another code', () => {
  const refusal: unknown = new AppError('not_found', 'no order has this id');
  expect(isAppError(refusal)).toBe(true);
  expect(isAppError(refusal, 'not_found')).toBe(true);
  expect(isAppError(refusal, 'rate_limited')).toBe(false);
  expect(isAppError(new Error('not_found'))).toBe(false);
  expect(isAppError({ code: 'not_found', statusCode: 404 }, 'not_found')).toBe(false);
});

test('only not_found becomes null', async () => {
  expect(await nullIfNotFound(Promise.resolve('answer'))).toBe('answer');
  expect(await nullIfNotFound(Promise.reject(new AppError('not_found', 'none')))).toBeNull();
  const limited = new AppError('rate_limited', 'slow down');
  await expect(nullIfNotFound(Promise.reject(limited))).rejects.toBe(limited);
});

test('a bad request names its first 20 faults, with paths of at most 256 characters', () => {
  const faults = Array.from({ length: 21 }, (_, n) => ({ path: `items.${n}`, message: 'is wrong' }));
  expect(invalidRequest(faults).details).toEqual(faults.slice(0, 20));
  expect(invalidRequest(faults.slice(0, 2)).message).toBe('items.0: is wrong; items.1: is wrong');
  const pathOf = (length: number) => invalidRequest([{ path: 'x'.repeat(length), message: '' }]).details[0]!.path;
  expect([pathOf(256), pathOf(257)]).toEqual(['x'.repeat(256), `${'x'.repeat(255)}…`]);
});

// Not `rate_limited`: that is for clients of the API, and no service answers another one with it.
test('only refusals after which the same work may succeed are temporary', () => {
  const temporary = Object.keys(ERROR_CODES).filter((code) => isTemporary(new AppError(code as ErrorCode, '')));
  expect(temporary.sort()).toEqual([
    'concurrent_update',
    'dependency_unavailable',
    'outcome_unknown',
    'overloaded',
    'rate_unavailable',
  ]);
  expect(isTemporary(new Error('overloaded'))).toBe(false);
});

test('an unknown outcome keeps its cause, and the engine that is unavailable', () => {
  const cause = new Error('socket closed');
  expect(outcomeUnknown('the answer was lost', cause, 'eventstore')).toMatchObject({
    code: 'outcome_unknown',
    message: expect.stringMatching(/^the answer was lost: repeat the request/),
    cause,
    dependency: 'eventstore',
  });
});

test('a refusal says which service answered so', () =>
  expect(new AppError('not_found', '', { answeredBy: 'orders' })).toMatchObject({ answeredBy: 'orders' }));
