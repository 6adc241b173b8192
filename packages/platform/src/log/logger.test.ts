import { createLogger } from './logger.ts';

const linesOf = (write: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] => {
  const lines: string[] = [];
  write(createLogger({ name: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } }));
  expect(lines.every((line) => line.endsWith('\n'))).toBe(true);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
};

test('redacts secrets at any depth, in errors and in the fields of a child logger', () => {
  const headers = { 'x-api-key': 'ak_1', cookie: ['a=b'], accept: '*/*' };
  const [line, ofChild] = linesOf((log) => {
    const err = Object.assign(new Error('refused'), { token: 't', config: { headers } });
    log.info({ secret: { box: 's' }, request: { headers }, err }, 'called');
    log.child({ password: 'p' }).info('"token": of a text stays');
  });
  expect(line).toMatchObject({
    secret: '[redacted]',
    request: { headers: { 'x-api-key': '[redacted]', cookie: '[redacted]', accept: '*/*' } },
    err: { message: 'refused', token: '[redacted]', config: { headers: { 'x-api-key': '[redacted]' } } },
    msg: 'called',
  });
  expect(ofChild).toMatchObject({ password: '[redacted]', msg: '"token": of a text stays' });
});

test('leaves other lines as they are', () => {
  const [line] = linesOf((log) => log.info({ orderId: 'ord_1', tokens: 2 }, 'order created'));
  expect(line).toMatchObject({ level: 'info', name: 'test', orderId: 'ord_1', tokens: 2, msg: 'order created' });
});
