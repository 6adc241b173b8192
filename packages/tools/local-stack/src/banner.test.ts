import { execFileSync } from 'node:child_process';
import { banner, createOrderCommand } from './banner.ts';
import { SAMPLE_ORDER } from './sample-orders.ts';

const addresses = {
  dataDir: '/data',
  baseUrl: 'http://127.0.0.1:4000',
  apiKey: `ak_sandbox_${'a'.repeat(40)}`,
  merchantId: 'mer_01JB0000000000000000000000',
  eventstoreUrl: 'esdb://admin:pass@127.0.0.1:2113?tls=false',
  kafkaBrokers: '127.0.0.1:9092',
  databaseUrl: 'postgres://postgres:pass@127.0.0.1:5433/app',
};

test('the printed command sends the sample order with curl', () => {
  const shown = execFileSync('bash', ['-c', `curl() { printf '%s' "\${@: -1}"; }\n${createOrderCommand(addresses)}`]);
  expect(JSON.parse(String(shown))).toEqual(SAMPLE_ORDER);
});

test('says how to pay on the chain, if there is one', () => {
  expect(banner({ ...addresses, chainUrl: 'http://127.0.0.1:8545' }, 1)).toContain('npm run pay -- ORDER_ID');
  expect(banner(addresses, 1)).not.toContain('npm run pay');
});

test('shows a link to pay, if there is one', () => {
  expect(banner(addresses, 1, 'http://127.0.0.1:4000/pay/1')).toContain(
    'Pay as a customer: http://127.0.0.1:4000/pay/1',
  );
  expect(banner(addresses, 1)).not.toContain('/pay/');
});

test('shows URLs without their passwords', () => {
  expect(banner(addresses, 1)).toContain('postgres://127.0.0.1:5433/app');
  expect(banner(addresses, 1)).not.toContain('pass@');
  const databaseUrl = 'postgres://cpg:zq@zq/zq#zq@127.0.0.1:5433/app';
  expect(banner({ ...addresses, databaseUrl }, 1)).toContain('postgres://127.0.0.1:5433/app');
  expect(banner({ ...addresses, databaseUrl }, 1)).not.toContain('zq');
});
