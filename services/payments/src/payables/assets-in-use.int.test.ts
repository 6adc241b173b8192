import type { Asset, AssetTable, Network } from '@cpg/assets';
import { createLogger, FatalStartError } from '@cpg/platform';
import { appliedOnceConfirmed, until } from '../testing/jest-fixtures.ts';
import { deposit, hostedPage } from '../testing/jest-order-events.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { requireAssetsInUse } from './assets-in-use.ts';

let payments: PaymentsService;
let projecting: ReturnType<PaymentsService['startPayables']> | undefined;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(async () => {
  await projecting?.stop();
  await payments.stop();
});

const OLD = 'eip155:1/erc20:0x6B175474E89094C44Da98b954EedeAC495271d0F';
const NEW = 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const SEPOLIA = 'eip155:11155111/erc20:0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238';
const network: Network = { kind: 'evm', name: 'ethereum', chainId: 'eip155:1' };
const asset = (id: string): Asset => ({
  currency: 'USDC',
  currencyDecimals: 6,
  network,
  id,
  decimals: 6,
  smallestPayableMinor: 1n,
  payableStepMinor: 1n,
  requiredConfirmations: 12,
  confirmationTiers: [],
});
const tableOf = (...ids: string[]): AssetTable => ({ networks: [network], assets: ids.map(asset) });

const DAY_MS = 86_400_000;
/** The time of the orders' events. */
const ASSIGNED_AT = Date.parse('2026-01-31T12:00:00.000Z');
const check = (table: AssetTable, environment: 'sandbox' | 'production' = 'production', afterDays = 0) =>
  requireAssetsInUse({
    client: payments.client,
    db: payments.pool,
    table,
    environment,
    now: () => new Date(ASSIGNED_AT + afterDays * DAY_MS),
    log: createLogger({ name: 'assets', level: 'silent' }),
  });
const refusalOf = async (...call: Parameters<typeof check>) =>
  check(...call).then(
    () => null,
    (error: unknown) => (error instanceof FatalStartError ? error.message : Promise.reject(error)),
  );

const orderIn = (id: string, index: number) => {
  const onMain = { ...deposit(`0xB${index}`, index, 'ethereum'), chainId: 'eip155:1', asset: id };
  return payments.createOrder(appliedOnceConfirmed, [onMain]);
};

test('production does not start without an asset that recent orders show, also before their rows are written', async () => {
  expect(await refusalOf(tableOf(NEW))).toBeNull();
  await orderIn(OLD, 1);
  await orderIn(OLD, 2);
  const last = await orderIn(NEW, 3);
  expect(await refusalOf(tableOf(NEW))).toMatch(`${OLD} on ethereum: `);

  projecting = payments.startPayables();
  await until(async () => {
    const { rowCount } = await payments.pool.query('select from payments.payables where order_id = $1', [last]);
    return rowCount === 1;
  });
  expect(await refusalOf(tableOf(NEW))).toBe(
    [
      'ASSETS_FILE lacks assets that orders of the last 120 days show, so their deposits would not be seen:',
      `  ${OLD} on ethereum: 2 orders`,
      'Add their rows again. With "retired": true, new orders are not offered an asset.',
    ].join('\n'),
  );
  expect(await refusalOf(tableOf(OLD, NEW))).toBeNull();
  expect(await refusalOf(tableOf(NEW), 'sandbox')).toBeNull();
  expect(await refusalOf(tableOf(NEW), 'production', 121)).toBeNull();
});

test('a test network that production refuses may disappear', async () => {
  await payments.createOrder(appliedOnceConfirmed, [deposit('0xB4', 4)]);
  expect(deposit('0xB4').asset).toBe(SEPOLIA);
  expect(await refusalOf(tableOf(OLD, NEW))).toBeNull();
});

test('an asset behind a payment page is in use too', async () => {
  const shown = hostedPage('REF', '0xB5');
  const deposits = shown.deposits!.map((each) => ({ ...each, network: 'base', asset: 'eip155:8453/slip44:60' }));
  await payments.createOrder(appliedOnceConfirmed, [{ ...shown, deposits }]);
  expect(await refusalOf(tableOf(OLD, NEW))).toMatch('eip155:8453/slip44:60 on base: 1 orders');
});
