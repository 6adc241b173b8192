import { AppError, ERROR_CODES, type ErrorCode, isAppError, nullIfNotFound } from './errors.ts';

test.each(Object.entries(ERROR_CODES))('%s is an HTTP status: %d', (code, status) => {
  const error = new AppError(code as ErrorCode, 'because');
  expect(error.statusCode).toBe(status);
  expect(status >= 400 && status < 600).toBe(true);
});

test('codes are snake_case, as callers see them', () => {
  expect(Object.keys(ERROR_CODES).filter((code) => !/^[a-z]+(_[a-z]+)*$/.test(code))).toEqual([]);
});

test('a refusal keeps what caused it, and says where it was wrong', () => {
  const cause = new Error('socket closed');
  const details = [{ path: 'items.0.quantity', message: 'must be positive' }];
  expect(new AppError('invalid_request', 'no', { details, cause })).toMatchObject({ details, cause, name: 'AppError' });
  expect(new AppError('not_found', 'no')).not.toHaveProperty('cause');
  expect(new AppError('not_found', 'no').details).toEqual([]);
});

test('a refusal is told from a bug, and by its code from another', () => {
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
