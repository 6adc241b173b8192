import { createLogger } from '@cpg/platform';
import { createScopeUseTracker, type ScopeUse } from './scope-uses.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const at = (time: string) => new Date(time);

const tracked = async (record: (tracker: ReturnType<typeof createScopeUseTracker>) => Promise<void>) => {
  const written: (readonly ScopeUse[])[] = [];
  const tracker = createScopeUseTracker({ write: async (uses) => void written.push(uses), log, everyMs: 60_000 });
  await record(tracker);
  await tracker.stop();
  return written;
};

test('writes each key and scope once a day, in one batch', async () => {
  const written = await tracked(async ({ record }) => {
    record('a', 'orders:self:read', at('2026-01-31T00:00:00.000Z'));
    record('a', 'orders:self:read', at('2026-01-31T23:59:59.999Z'));
    record('a', 'orders:self:create', at('2026-01-31T12:00:00.000Z'));
    record('b', 'orders:self:read', at('2026-01-31T12:00:00.000Z'));
  });
  expect(written).toEqual([
    [
      { kid: 'a', scope: 'orders:self:read', day: '2026-01-31' },
      { kid: 'a', scope: 'orders:self:create', day: '2026-01-31' },
      { kid: 'b', scope: 'orders:self:read', day: '2026-01-31' },
    ],
  ]);
});

test('writes nothing for a use that is written already, and again on the next day', async () => {
  const written = await tracked(async ({ record, stop }) => {
    record('a', 'orders:self:read', at('2026-01-31T12:00:00.000Z'));
    await stop();
    record('a', 'orders:self:read', at('2026-01-31T13:00:00.000Z'));
    await stop();
    record('a', 'orders:self:read', at('2026-02-01T00:00:00.000Z'));
  });
  expect(written.flat().map(({ day }) => day)).toEqual(['2026-01-31', '2026-02-01']);
});
