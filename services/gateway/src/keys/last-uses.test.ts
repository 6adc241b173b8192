import { createLogger } from '@cpg/runtime';
import { createLastUses } from './last-uses.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const at = (second: number) => new Date(second * 1000);

test('what came together is written together, the latest use of each key', async () => {
  const written: [string, Date][][] = [];
  const uses = createLastUses({ write: async (batch) => void written.push([...batch]), log, everyMs: 60_000 });
  uses.note('a', at(1));
  uses.note('b', at(2));
  uses.note('a', at(3));
  await uses.stop();
  await uses.stop();
  expect(written).toEqual([
    [
      ['a', at(3)],
      ['b', at(2)],
    ],
  ]);
});

test('what could not be written is written later, a newer use not undone', async () => {
  const written: [string, Date][][] = [];
  let away = true;
  const uses = createLastUses({
    write: async (batch) => {
      if (!away) return void written.push([...batch]);
      uses.note('a', at(9));
      throw new Error('away');
    },
    log,
    everyMs: 60_000,
  });
  uses.note('a', at(1));
  uses.note('b', at(2));
  await uses.stop();
  away = false;
  await uses.stop();
  expect(written).toEqual([
    [
      ['a', at(9)],
      ['b', at(2)],
    ],
  ]);
});
