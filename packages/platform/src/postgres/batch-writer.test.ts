import { setTimeout as sleep } from 'node:timers/promises';
import { batchWriter, type VersionedRow } from './batch-writer.ts';

const row = (id: string, revision = 0): VersionedRow => ({ id, revision });

/** A writer whose statements end when the test says so. */
const controlled = () => {
  const statements: { rows: readonly VersionedRow[]; end: (error?: Error) => void }[] = [];
  const write = batchWriter<VersionedRow>(
    (rows) =>
      new Promise((resolve, reject) => {
        statements.push({ rows, end: (error) => (error ? reject(error) : resolve()) });
      }),
    { gatherMs: 0 },
  );
  return { statements, write };
};
const idsOf = ({ rows }: { rows: readonly VersionedRow[] }) => rows.map(({ id }) => id);
/** Equal timers fire in order, so the second sleep ends after the timer of the writer. */
const settled = async () => {
  await sleep(1);
  await sleep(1);
};

test('writes a single row at once', async () => {
  const { statements, write } = controlled();
  const written = write(row('a'));
  statements[0]!.end();
  await written;
  expect(statements).toHaveLength(1);
});

test('writes the rows that gathered during a statement in the next one', async () => {
  const { statements, write } = controlled();
  const written = ['a', 'c', 'b'].map((id) => write(row(id)));
  expect(statements.map(idsOf)).toEqual([['a']]);
  statements[0]!.end();
  await settled();
  expect(statements.map(idsOf)).toEqual([['a'], ['c', 'b']]);
  let resolved = 0;
  for (const each of written) void each.then(() => (resolved += 1));
  await settled();
  // Only the row of the first statement is committed.
  expect(resolved).toBe(1);
  statements[1]!.end();
  await Promise.all(written);
});

test('writes the latest revision of a row that several callers gave', async () => {
  const { statements, write } = controlled();
  const written = [write(row('first')), write(row('a', 1)), write(row('a', 3)), write(row('a', 2))];
  statements[0]!.end();
  await settled();
  expect(statements[1]!.rows).toEqual([row('a', 3)]);
  statements[1]!.end();
  await Promise.all(written);
  // A row that comes after the statement began is not part of it.
  const later = write(row('a', 4));
  statements[2]!.end();
  await later;
});

test('writes a committed row only once', async () => {
  const { statements, write } = controlled();
  const first = write(row('a', 1)).catch(() => {});
  statements[0]!.end(new Error('refused'));
  await first;
  const second = write(row('a', 1));
  statements[1]!.end();
  await second;
  await write(row('a', 1));
  await write(row('a', 0));
  expect(statements).toHaveLength(2);
  void write(row('a', 2));
  expect(statements).toHaveLength(3);
});

test('lets one bad row fail alone', async () => {
  const { statements, write } = controlled();
  const written = ['first', 'a', 'b', 'c'].map((id) => write(row(id)).then(() => 'written', String));
  statements[0]!.end();
  await settled();
  statements[1]!.end(new Error('refused'));
  for (const id of ['a', 'b', 'c']) {
    await settled();
    const statement = statements.at(-1)!;
    expect(idsOf(statement)).toEqual([id]);
    statement.end(id === 'b' ? new Error('refused') : undefined);
  }
  expect(await Promise.all(written)).toEqual(['written', 'written', 'Error: refused', 'written']);
});

test('fails a whole batch when the database is unavailable', async () => {
  const { statements, write } = controlled();
  const written = ['first', 'a', 'b'].map((id) => write(row(id)).then(() => 'written', String));
  statements[0]!.end();
  await settled();
  statements[1]!.end(Object.assign(new Error('shutting down'), { code: '57P01' }));
  expect(await Promise.all(written)).toEqual(['written', 'Error: shutting down', 'Error: shutting down']);
  expect(statements).toHaveLength(2);
});

test('bounds a statement', async () => {
  const { statements, write } = controlled();
  const written = Array.from({ length: 300 }, (_, n) => write(row(String(n))));
  for (const size of [1, 256, 43]) {
    expect(statements.at(-1)!.rows).toHaveLength(size);
    statements.at(-1)!.end();
    await settled();
  }
  await Promise.all(written);
});

test('writes a row again after an outage, in which its commit may have been lost', async () => {
  const { statements, write } = controlled();
  const first = write(row('a', 1));
  statements[0]!.end();
  await first;
  await write(row('a', 1));
  expect(statements).toHaveLength(1);

  const failed = write(row('b')).catch(String);
  statements[1]!.end(Object.assign(new Error('shutting down'), { code: '57P01' }));
  expect(await failed).toBe('Error: shutting down');
  void write(row('a', 1));
  expect(statements).toHaveLength(3);
});
