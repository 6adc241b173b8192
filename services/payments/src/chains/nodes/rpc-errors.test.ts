import { retryAfterMs, rpcErrorClass, type RpcErrorClass, statusClass } from './rpc-errors.ts';

// Texts of real nodes and providers.
test.each<[RpcErrorClass, number, string]>([
  ['busy', -32_005, 'daily request count exceeded, request rate limited'], // Infura
  ['busy', -32_005, 'rate limit exceeded'], // Tenderly
  ['busy', 429, 'Your app has exceeded its compute units per second capacity.'], // Alchemy
  ['busy', -32_007, '50/second request limit reached - reduce calls per second or upgrade your account'], // QuickNode
  ['busy', -32_090, 'Too many requests, reason: call rate limit exhausted, retry in 10s'], // Ankr
  ['busy', -32_016, 'over rate limit'], // Base
  ['busy', -32_029, 'Rate limit exceeded'],
  ['busy', -32_097, 'limit'],
  ['busy', -32_000, '429 Too Many Requests: {"code":-32016,"message":"over rate limit"}'],
  ['busy', -28, 'Loading block index…'], // Bitcoin Core
  ['busy', -10, 'Bitcoin Core is in initial sync and waiting for blocks...'],
  ['busy', -32_002, 'request timed out'], // geth
  ['busy', -32_016, 'eth_getLogs request was canceled due to enabled timeout.'], // Nethermind
  ['too_large', -32_005, 'query returned more than 10000 results'], // Infura
  ['too_large', -32_602, 'eth_getLogs is limited to a 10,000 block range'],
  ['too_large', -32_003, 'response too large'], // geth
  ['no_method', -32_601, 'the method debug_traceBlockByHash does not exist/is not available'], // geth
  ['no_method', -32_600, 'debug_traceBlockByHash is not available on the Free tier - upgrade to Pay As You Go'], // Alchemy
  ['no_method', -32_004, 'Method debug_traceBlockByHash is not supported'], // Hardhat
  ['no_state', -32_000, 'missing trie node 8f3c (path )'],
  ['no_state', -32_000, 'required historical state unavailable (reexec=128)'],
  ['no_state', -32_002, 'No state available for block 0x12'], // Nethermind
  ['reverted', 3, 'execution reverted'],
  ['reverted', -32_015, 'VM execution error.'],
  // Behind a load balancer, the next node may have the block.
  ['unknown', -32_000, 'block 0x12 not found'],
  ['unknown', -32_000, 'header not found'],
  ['unknown', -32_603, 'Internal error'],
  ['unknown', -32_000, 'something new'],
])('takes as %s: %i %s', (kind, code, message) => {
  expect(rpcErrorClass(code, message)).toBe(kind);
});

test('does not look for words in what a node writes without end', () => {
  expect(rpcErrorClass(-32_000, `${'x'.repeat(1_900)} execution reverted`)).toBe('reverted');
  expect(rpcErrorClass(-32_000, `${'x'.repeat(2_000)} execution reverted`)).toBe('unknown');
});

test.each([
  [429, 'busy'],
  [500, 'busy'],
  [503, 'busy'],
  [413, 'too_large'],
  [401, 'unknown'],
  [403, 'unknown'],
  [501, 'unknown'],
])('takes HTTP %i as %s', (status, kind) => expect(statusClass(status)).toBe(kind));

test('reads how long a node asks to wait, and waits no longer than five minutes', () => {
  const nowMs = Date.parse('2026-01-31T12:00:00.000Z');
  expect(retryAfterMs('7', null, nowMs)).toBe(7_000);
  expect(retryAfterMs('Sat, 31 Jan 2026 12:00:30 GMT', null, nowMs)).toBe(30_000);
  expect(retryAfterMs(undefined, { rate: { backoff_seconds: 2 } }, nowMs)).toBe(2_000);
  expect(retryAfterMs('86400', null, nowMs)).toBe(300_000);
  for (const header of [undefined, 'soon', '-1', 'Sat, 31 Jan 2026 11:00:00 GMT'])
    expect(retryAfterMs(header, undefined, nowMs)).toBeNull();
});
