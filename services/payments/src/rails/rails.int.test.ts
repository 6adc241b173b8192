import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PaymentCurrency } from '@cpg/contracts';
import { createPool, migrate, type Pool, testDatabase } from '@cpg/postgres';
import { createLogger, newId } from '@cpg/runtime';
import { instructionsFrom } from '../instructions.ts';
import { cryptoDeposit } from './crypto-deposit.ts';
import { gatewayPay, sandboxProvider } from './gateway-pay.ts';
import { NetworksFile, networksOf } from './networks.ts';

const log = createLogger({ name: 'rails', level: process.env.LOG_LEVEL ?? 'silent' });
const sandbox = NetworksFile.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, '../../config/networks.sandbox.json'), 'utf8')),
);
const networks = networksOf(sandbox, {});
const MERCHANT = newId('merchant');
const publicUrl = 'http://127.0.0.1:4000';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

/** The rails of one process: it remembers nothing of another's. */
const startProcess = () =>
  instructionsFrom([gatewayPay([sandboxProvider({ pool, publicUrl })]), cryptoDeposit({ networks, pool })]);
type Instruct = ReturnType<typeof startProcess>;

const open = (
  instruct: Instruct,
  orderId: string,
  currency: PaymentCurrency = 'ETH',
  rails: ('crypto_deposit' | 'gateway_pay')[] = ['crypto_deposit'],
) => instruct({ order_id: orderId, merchant_id: MERCHANT, currency, rails });

const deposit = async (...args: Parameters<typeof open>) => {
  const [instruction] = await open(...args);
  if (instruction?.rail !== 'crypto_deposit') throw new Error('not a deposit');
  return instruction;
};

beforeAll(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'rails-test', log });
  await migrate(pool, { schema: 'payments', folder: join(import.meta.dirname, '../../migrations') });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

test('an order is paid on every rail it enables, in their order', async () => {
  const orderId = newId('order');
  const [provider, chain] = await open(startProcess(), orderId, 'USDC', ['gateway_pay', 'crypto_deposit']);
  expect(provider).toEqual({
    rail: 'gateway_pay',
    currency: 'USDC',
    provider: 'sandbox',
    paymentReference: expect.stringMatching(/^[A-Z2-7]{26}$/),
    paymentUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:4000\/pay\/[A-Z2-7]{26}$/),
  });
  expect(chain).toEqual({
    rail: 'crypto_deposit',
    currency: 'USDC',
    network: 'ethereum-sepolia',
    chainId: 'eip155:11155111',
    asset: 'eip155:11155111/erc20:0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238',
    address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    decimals: 6,
    requiredConfirmations: 12,
    derivation: { fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/), path: expect.stringMatching(/^0\/\d+$/) },
  });
});

test('bitcoin is paid to a native segwit address', async () => {
  expect(await deposit(startProcess(), newId('order'), 'BTC')).toMatchObject({
    network: 'bitcoin-testnet',
    asset: 'bip122:000000000933ea01ad0ee984209779ba/slip44:1',
    address: expect.stringMatching(/^tb1q[02-9ac-hj-np-z]{38}$/),
    decimals: 8,
    requiredConfirmations: 2,
  });
});

test.each(PaymentCurrency.options)('the sandbox takes %s on both rails', async (currency) => {
  const instructions = await open(startProcess(), newId('order'), currency, ['gateway_pay', 'crypto_deposit']);
  expect(instructions.map(({ rail }) => rail)).toEqual(['gateway_pay', 'crypto_deposit']);
});

test('what is shown of an account key is its fingerprint', async () => {
  const shown = JSON.stringify(await open(startProcess(), newId('order'), 'ETH', ['gateway_pay', 'crypto_deposit']));
  expect(shown).not.toMatch(/pub[0-9A-Za-z]{100}/);
});

test('the same order gets the same instructions, from any process and however many ask at once', async () => {
  const orderId = newId('order');
  const processes = [startProcess(), startProcess(), startProcess()];
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, n) => open(processes[n % 3]!, orderId, 'ETH', ['gateway_pay', 'crypto_deposit'])),
  );
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});

test('an address is never handed out twice, whoever asks at once, and hardly an index is left out', async () => {
  const processes = [startProcess(), startProcess(), startProcess()];
  const before = await nextIndexes();
  const orders = Array.from({ length: 120 }, () => newId('order'));
  const opened = await Promise.all(orders.map((orderId, n) => deposit(processes[n % 3]!, orderId)));
  expect(new Set(opened.map(({ address }) => address)).size).toBe(120);
  expect(new Set(opened.map(({ derivation }) => derivation.path)).size).toBe(120);
  const taken = (await nextIndexes()) - before;
  expect(taken - 120).toBeLessThan(3 * 16);
});

test('a process that starts again goes on behind all that was handed out', async () => {
  const first = await deposit(startProcess(), newId('order'));
  const second = await deposit(startProcess(), newId('order'));
  const index = (path: string) => Number(path.split('/')[1]);
  const skipped = index(second.derivation.path) - index(first.derivation.path);
  expect(skipped).toBeGreaterThan(0);
  expect(skipped).toBeLessThan(20);
});

test('every address is what its key makes at its path', async () => {
  const { rows } = await pool.query<{ network: string; index: string; address: string }>(
    'select network, index, address from payments.deposit_addresses',
  );
  expect(rows.length).toBeGreaterThan(100);
  for (const { network, index, address } of rows.slice(0, 30)) {
    expect(networks.find(({ name }) => name === network)!.addressAt(Number(index))).toBe(address);
  }
});

test('an address that its key does not make is not handed out', async () => {
  const orderId = newId('order');
  await open(startProcess(), orderId);
  await pool.query("update payments.deposit_addresses set address = '0xbad' where order_id = $1", [orderId]);
  await expect(open(startProcess(), orderId)).rejects.toThrow(/is not what its key makes/);
});

test('a currency without a contract is refused by name, and no rail is opened', async () => {
  const bare = networksOf(
    { networks: sandbox.networks.map((network) => (network.kind === 'evm' ? { ...network, tokens: {} } : network)) },
    {},
  );
  const instruct = instructionsFrom([
    gatewayPay([sandboxProvider({ pool, publicUrl })]),
    cryptoDeposit({ networks: bare, pool }),
  ]);
  const orderId = newId('order');
  await expect(open(instruct, orderId, 'CAZ', ['gateway_pay', 'crypto_deposit'])).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'enable_rails: crypto_deposit does not take CAZ here',
  });
  expect((await pool.query('select 1 from payments.payment_references where order_id = $1', [orderId])).rowCount).toBe(
    0,
  );
});

const nextIndexes = async (): Promise<number> => {
  const { rows } = await pool.query<{ sum: string }>('select sum(next_index) from payments.deposit_accounts');
  return Number(rows[0]!.sum);
};
