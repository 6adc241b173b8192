import { Writable } from 'node:stream';
import { createLineWriter } from './line-writer.ts';

test.each([
  [['first'], '1 line was'],
  [['first', 'second'], '2 lines were'],
])('drops the lines %j while the output is not read, and prints their number later', async (dropped, report) => {
  const read: string[] = [];
  let open = () => {};
  const gate = new Promise<void>((opened) => (open = opened));
  const stream = new Writable({
    write: (chunk, _encoding, done) => void gate.then(() => (read.push(String(chunk)), done())),
  });
  const write = createLineWriter(stream);
  const long = 'x'.repeat(1024 * 1024);
  for (const line of [long, ...dropped]) write(line);
  open();
  await new Promise((drained) => stream.once('drain', drained));
  write('last');
  await new Promise((ended) => stream.end(ended));
  expect(read).toEqual([`${long}\n`, `(${report} dropped because the output was not read)\n`, 'last\n']);
});

test('ignores lines after the stream is closed', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const write = createLineWriter(stream);
  write('one');
  await new Promise((closed) => stream.once('close', closed));
  write('two');
  expect(stream.destroyed).toBe(true);
});
