import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from './request.ts';
import { callContext, callerOf, canAnswer } from './request.ts';

const caller = { actor: 'key:kid', merchantId: 'mer_1' } as Caller;
const requestOf = (more: object) => ({ id: 'req_1', routeOptions: { url: '/v1/orders' }, ...more }) as FastifyRequest;

test('a route that needs a key has a caller', () => {
  expect(callerOf(requestOf({ caller }))).toBe(caller);
  expect(() => callerOf(requestOf({ caller: null }))).toThrow('/v1/orders is served without authentication');
});

test.each([
  [{ destroyed: false, headersSent: false }, true],
  [{ destroyed: true, headersSent: false }, false],
  [{ destroyed: false, headersSent: true }, false],
])('a response with %j can still reach the client: %s', (raw, expected) => {
  expect(canAnswer({ raw } as FastifyReply)).toBe(expected);
});

test.each([
  [caller, 'key:kid'],
  [null, 'debug'],
])('a call for the caller %j names %s as its actor', (of, actor) => {
  const request = requestOf({ caller: of, deadlineMs: 7 });
  const context = callContext(request);
  expect(context).toEqual({ actor, requestId: 'req_1', correlationId: 'req_1', deadlineMs: 7 });
  request.deadlineMs = 3;
  expect(context.deadlineMs).toBe(3);
});
