import { databaseClocks } from '@cpg/platform/postgres';
import { startAdmin, type TestAdmin } from '../testing/jest-admin.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
  admin.clock = new Date();
});
afterAll(() => admin.close());

const WHO_AND_WHY = ['--by', 'Ana', '--reason', 'NTP was corrected'];
const confirm = (time: Date, ...options: string[]) => admin.run('clock', 'confirm', time.toISOString(), ...options);

test('shows the clocks of this machine and of PostgreSQL', async () => {
  expect(await admin.run('clock', 'show')).toMatch(/^this machine {2}\d{4}-.+Z\nPostgreSQL {4}\d{4}-.+Z$/);
});

test('the time that an operator confirms is known to every process', async () => {
  const startedMs = Date.now();
  const steadyMs = () => Date.now() - startedMs;
  const { readConfirmation } = databaseClocks(admin.pool);
  expect(await confirm(new Date(), ...WHO_AND_WHY)).toContain('confirmed');
  const confirmation = (await readConfirmation!({ now: () => new Date(), steadyMs }))!;
  expect(confirmation).toMatchObject({ id: 1, isRecent: true });
  expect(Math.abs(confirmation.offsetMs - startedMs)).toBeLessThan(60_000);
  const { rows } = await admin.pool.query('select confirmed_by, reason from gateway.clock_confirmations');
  expect(rows).toEqual([{ confirmed_by: 'Ana', reason: 'NTP was corrected' }]);
});

test('a time that no clock shows is refused, and so is one without a person and a reason', async () => {
  await expect(confirm(new Date(Date.now() + 3_600_000), ...WHO_AND_WHY)).rejects.toThrow('more than two minutes from');
  await expect(confirm(new Date(), '--by', 'Ana')).rejects.toThrow("required option '--reason <text>' not specified");
  await expect(confirm(new Date(), '--by', 'Ana', '--reason', ' ')).rejects.toThrow(
    'say who confirms the time, and why',
  );
  await expect(admin.run('clock', 'confirm', 'noon', ...WHO_AND_WHY)).rejects.toThrow('noon');
});
