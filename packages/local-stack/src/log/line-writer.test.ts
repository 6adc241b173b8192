import { Writable } from 'node:stream';
import { createLineWriter } from './line-writer.ts';

test('drops and counts lines while the output is not read', async () => {
  const read: string[] = [];
  let open = () => {};
  const gate = new Promise<void>((opened) => (open = opened));
  const stream = new Writable({
    write: (chunk, _encoding, done) => void gate.then(() => (read.push(String(chunk)), done())),
  });
  const write = createLineWriter(stream);
  const long = 'x'.repeat(1024 * 1024);
  for (const line of [long, 'first dropped', 'second dropped']) write(line);
  open();
  await new Promise((drained) => stream.once('drain', drained));
  write('last');
  await new Promise((ended) => stream.end(ended));
  expect(read).toEqual([`${long}\n`, '(2 lines were dropped because the output was not read)\n', 'last\n']);
});

test('ignores a closed stream', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const write = createLineWriter(stream);
  write('one');
  await new Promise((closed) => stream.once('close', closed));
  write('two');
  expect(stream.destroyed).toBe(true);
});
