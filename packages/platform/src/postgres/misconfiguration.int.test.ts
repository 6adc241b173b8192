import { createServiceLog } from '../outages/outages.ts';
import { databaseDependency, POSTGRES } from './errors.ts';
import { createPool } from './pool.ts';

test.each<[what: string, change: (url: URL) => void, sentence: RegExp]>([
  [
    'a wrong password',
    (url) => void (url.password = 'secret'),
    /refuses the password of the user in DATABASE_URL: correct it there/,
  ],
  [
    'a database that does not exist',
    (url) => void (url.pathname = '/nowhere'),
    /the database in DATABASE_URL does not exist .*: create it/,
  ],
  [
    'TLS, where the server has none',
    (url) => url.searchParams.set('sslmode', 'verify-full'),
    /PostgreSQL offers no TLS: .*remove sslmode from DATABASE_URL/,
  ],
])('%s is logged once, with how to correct it', async (_, change, sentence) => {
  const lines: { level: string; reason?: string }[] = [];
  const { log, outages } = createServiceLog({
    name: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
  });
  const url = new URL(process.env.POSTGRES_URL!);
  change(url);
  const pool = createPool({ url: url.href, name: 'test', max: 1, log });
  const check = outages.watch(POSTGRES, databaseDependency(pool));
  for (let n = 0; n < 3; n += 1) await expect(check()).rejects.toThrow(sentence);
  const error = await pool.query('select 1').catch((failed: unknown) => failed);
  expect(outages.refused(error)).toBe(true);
  const told = lines.filter(({ level }) => level === 'error').map(({ reason }) => reason);
  expect(told).toEqual([expect.stringMatching(sentence)]);
  expect(told[0]).not.toContain('secret');
  outages.stop();
  await pool.end();
});
