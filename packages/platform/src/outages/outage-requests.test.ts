import { AppError } from '@cpg/contracts';
import { createApp } from '../http/app.ts';
import { createServiceLog } from './outages.ts';

const lines: { msg: string; refused?: number; route?: string }[] = [];
const { log, outages } = createServiceLog({
  name: 'test',
  level: 'info',
  destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
});
const lost = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });
outages.watch('postgres', { owns: (error) => error === lost });
const isTransientError = (error: unknown) => error === lost || error === deadlock;
const app = createApp({ log, outages, responseTimeoutMs: 50, isTransientError });
let thrown: Error | null;
app.post('/orders', async () => {
  if (!thrown) return new Promise(() => {});
  throw thrown;
});

beforeEach(() => void (lines.length = 0));
afterEach(() => outages.stop());
afterAll(() => app.close());

const post = async (error: Error | null): Promise<number> => {
  thrown = error;
  return (await app.inject({ method: 'POST', url: '/orders' })).statusCode;
};

test('refused requests of an outage are counted and not logged', async () => {
  const refusals = [
    new AppError('dependency_unavailable', 'try again', { dependency: 'postgres' }),
    new AppError('outcome_unknown', 'repeat it', { dependency: 'postgres' }),
    lost,
    // A request that times out during an outage most likely waits for what is unavailable.
    null,
  ];
  for (const error of refusals) expect(await post(error)).toBe(503);
  expect(lines.map(({ msg }) => msg)).toEqual(['outage began']);
  expect(outages.totals()).toEqual({ postgres: { isOngoing: true, outages: 1, refused: 4 } });
});

test('a passing error that no outage owns is refused, logged, and begins none', async () => {
  const before = outages.totals();
  expect(await post(deadlock)).toBe(503);
  expect(lines.map(({ msg }) => msg)).toEqual(['request failed']);
  expect(outages.totals()).toEqual(before);
});

test('a bug during an outage is logged with its request', async () => {
  expect(await post(new TypeError('x is not a function'))).toBe(500);
  expect(lines).toMatchObject([{ msg: 'request failed', route: '/orders', requestId: expect.any(String) }]);
});

test('a request that times out without an outage is logged', async () => {
  const quiet = createServiceLog({
    name: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
  });
  const other = createApp({ ...quiet, responseTimeoutMs: 20 });
  other.get('/slow', () => new Promise(() => {}));
  expect((await other.inject('/slow')).statusCode).toBe(503);
  expect(lines.map(({ msg }) => msg)).toEqual(['request timed out']);
  await other.close();
});
