import { Writable } from 'node:stream';
import { lineOutput } from './output.ts';

test('lines that nobody reads are dropped and counted, and the others arrive', async () => {
  const read: string[] = [];
  let open = () => {};
  const gate = new Promise<void>((opened) => (open = opened));
  const stream = new Writable({
    write: (chunk, _encoding, done) => void gate.then(() => (read.push(String(chunk)), done())),
  });
  const write = lineOutput(stream);
  const long = 'x'.repeat(1024 * 1024);
  for (const line of [long, 'first dropped', 'second dropped']) write(line);
  open();
  await new Promise((drained) => stream.once('drain', drained));
  write('last');
  await new Promise((ended) => stream.end(ended));
  expect(read).toEqual([`${long}\n`, '(2 lines were dropped: nobody read them)\n', 'last\n']);
});

test('a closed stream is no fault', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const write = lineOutput(stream);
  write('one');
  await new Promise((closed) => stream.once('close', closed));
  write('two');
  expect(stream.destroyed).toBe(true);
});
