import { Writable } from 'node:stream';
import { createLineWriter, renderLine } from './log-lines.ts';

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

const style = { width: 8, colour: false };
// An instant of the local time zone, as the line shows it.
const time = new Date(2026, 0, 31, 9, 34, 56, 789).toISOString();
const shown = '09:34:56.789';
const entry = (fields: object) => JSON.stringify({ level: 'info', time, pid: 1, name: 'orders', ...fields });

test('renders a log entry as one line', () =>
  expect(
    renderLine('orders', entry({ orderId: 'ord_1', items: [1, 2], reason: 'too late', msg: 'order expired' }), style),
  ).toBe(`${shown} orders    info  order expired orderId=ord_1 items=[1,2] reason="too late"`));

test('renders the error of a warning without its stack', () =>
  expect(
    renderLine(
      'orders',
      entry({ level: 'warn', err: { message: 'too busy', stack: 'Error: too busy' }, msg: 'again' }),
      style,
    ),
  ).toBe(`${shown} orders    warn  again err="too busy"`));

test('renders an error with its stack below', () =>
  expect(
    renderLine(
      'orders',
      entry({ level: 'error', err: { message: 'no disk', stack: 'Error: no disk\n    at a' }, msg: 'failed' }),
      style,
    ),
  ).toBe(`${shown} orders    error failed err="no disk"\n    Error: no disk\n        at a`));

test.each(['plain words', '{"not": "an entry"}', '{broken', '{"level":"info","time":"never"}', ''])(
  'keeps a line that is no log entry: %s',
  (line) => expect(renderLine('orders', line, style).replace(/^\d\d:\d\d:\d\d\.\d{3} /, '')).toBe(`orders    ${line}`),
);

test('uses colours only when they are enabled', () => {
  const line = entry({ msg: 'order expired' });
  expect(renderLine('orders', line, style)).not.toContain('\u001b');
  expect(renderLine('orders', line, { ...style, colour: true })).toContain('\u001b[');
});
