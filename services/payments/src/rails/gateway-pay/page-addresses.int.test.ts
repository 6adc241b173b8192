import { readAssets } from '@cpg/assets';
import type { AssignedInstruction } from '@cpg/contracts';
import { createServiceMetrics, newId } from '@cpg/platform';
import { findPayable } from '../../payables/find-payable.ts';
import { hostedProvider } from './hosted.ts';
import { CONTEXT, MERCHANT } from '../../testing/jest-fixtures.ts';
import { page } from '../../testing/jest-order-events.ts';
import { instructionsOf, log, ownKey, type RailsDatabase, startRailsDatabase } from '../../testing/jest-rails.ts';
import { type PageAddresses, pageAddresses } from './page-addresses.ts';

const NETWORK = 'ethereum-sepolia';
const TABLE = readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 });
const usdc = TABLE.assets.find(({ currency }) => currency === 'USDC')!;
let rails: RailsDatabase;
let process: ReturnType<RailsDatabase['startStock']>;
let addressesOf: PageAddresses;
const logged: object[] = [];

beforeAll(async () => {
  rails = await startRailsDatabase();
  process = rails.startStock([NETWORK], hostedProvider);
  addressesOf = pageAddresses({
    client: rails.client,
    findPayable: findPayable({ client: rails.client, readModel: rails.pool, log }),
    readAccounts: process.accounts.read,
    table: TABLE,
    log: { error: (entry: object) => logged.push(entry) } as never,
  });
});
afterAll(() => rails.stop());
beforeEach(() => logged.splice(0));

const order = async (changed: (instructions: AssignedInstruction[]) => AssignedInstruction[] = (same) => same) => {
  const orderId = newId('order');
  const rail = ['gateway_pay', 'crypto_deposit'] as const;
  const instructions = changed(
    await instructionsOf(process.assign, orderId, 'USDC', [...rail], { merchantId: MERCHANT }),
  );
  await rails.events.created(orderId, instructions);
  return { orderId, reference: referenceOf(instructions), instructions };
};

const referenceOf = (instructions: AssignedInstruction[]): string =>
  instructions.flatMap((each) => (each.rail === 'gateway_pay' ? [each.paymentReference] : []))[0]!;

const depositsOf = ({ instructions }: { instructions: AssignedInstruction[] }) =>
  instructions.flatMap((each) => (each.rail === 'gateway_pay' ? each.deposits! : [each]));

test('shows the addresses behind the page and those of the deposits, in the order of the instructions', async () => {
  const created = await order();
  const [behind, own] = depositsOf(created);
  const asset = {
    network: NETWORK,
    chain_id: 'eip155:11155111',
    asset: behind!.asset,
    decimals: 6,
    required_confirmations: 12,
    explorer: 'https://sepolia.etherscan.io',
  };
  expect(behind!.address).not.toBe(own!.address);
  expect(await addressesOf(created.reference)).toEqual({
    order_id: created.orderId,
    merchant_id: MERCHANT,
    deposits: [
      { rail: 'gateway_pay', ...asset, address: behind!.address },
      { rail: 'crypto_deposit', ...asset, address: own!.address },
    ],
  });
  expect(logged).toEqual([]);
});

test('names the token, and those of its network that do not pay the order', async () => {
  const bridged = { ...usdc, id: 'eip155:11155111/erc20:0xbridged', label: 'USDC.e', ifSent: 'orphan' as const };
  const ofSeveral = pageAddresses({
    client: rails.client,
    findPayable: findPayable({ client: rails.client, readModel: rails.pool, log }),
    readAccounts: process.accounts.read,
    table: { ...TABLE, assets: [...TABLE.assets, bridged] },
    log,
  });
  const { reference } = await order((all) => all.map((each) => ({ ...each, assetLabel: 'Circle USDC' })));
  const { deposits } = await ofSeveral(reference);
  expect(deposits).toMatchObject([
    { rail: 'gateway_pay', not_tokens: ['USDC.e'] },
    { rail: 'crypto_deposit', asset_label: 'Circle USDC', not_tokens: ['USDC.e'] },
  ]);
});

test('finds addresses of an account that the merchant replaced', async () => {
  const set = () =>
    process.settings.change(MERCHANT, { change: 'set_account', network: NETWORK, key: ownKey() }, CONTEXT);
  await set();
  const created = await order();
  await set();
  const { deposits } = await addressesOf(created.reference);
  expect(deposits.map(({ address }) => address)).toEqual(depositsOf(created).map(({ address }) => address));
  await process.settings.change(MERCHANT, { change: 'remove_account', network: NETWORK }, CONTEXT);
});

test.each<[string, (instruction: AssignedInstruction) => AssignedInstruction]>([
  ['is at another index', (each) => ({ ...each, derivation: { ...derivationOf(each), path: '0/999' } }) as never],
  [
    'has another account',
    (each) => ({ ...each, derivation: { ...derivationOf(each), fingerprint: '00000000' } }) as never,
  ],
  [
    'has a path that nobody derives',
    (each) => ({ ...each, derivation: { ...derivationOf(each), path: '1/0' } }) as never,
  ],
  ['was changed', (each) => ({ ...each, address: `0x${'1'.repeat(40)}` }) as never],
])('leaves out an address that %s, and reports it', async (_, change) => {
  const { reference, instructions } = await order((all) =>
    all.map((each) => (each.rail === 'crypto_deposit' ? change(each) : each)),
  );
  const { deposits } = await addressesOf(reference);
  expect(deposits.map(({ rail }) => rail)).toEqual(['gateway_pay']);
  const { network, address } = instructions[1] as { network: string; address: string };
  expect(logged).toEqual([expect.objectContaining({ network, address })]);
});

const derivationOf = (instruction: AssignedInstruction) =>
  (instruction as Extract<AssignedInstruction, { rail: 'crypto_deposit' }>).derivation;

test('counts the addresses that it leaves out', async () => {
  const registry = createServiceMetrics({ totals: () => [] } as never);
  const counted = pageAddresses({
    client: rails.client,
    findPayable: findPayable({ client: rails.client, readModel: rails.pool, log }),
    readAccounts: process.accounts.read,
    table: TABLE,
    metrics: registry,
    log,
  });
  const { reference } = await order((all) => all.map((each) => ({ ...each, address: '0xA1' }) as never));
  await counted(reference);
  expect(await registry.metrics()).toContain(`payment_page_addresses_refused_total{network="${NETWORK}"} 1`);
});

test('a page without deposits has no addresses', async () => {
  const orderId = newId('order');
  await rails.events.created(orderId, [page('EARLIER')]);
  expect(await addressesOf('EARLIER')).toMatchObject({ order_id: orderId, deposits: [] });
});

test('an order that was instructed later has a page', async () => {
  const orderId = newId('order');
  await rails.events.created(orderId);
  await rails.events.instructed(orderId, [page('LATER')]);
  expect(await addressesOf('LATER')).toMatchObject({ order_id: orderId, merchant_id: MERCHANT });
});

test('answers the same for unknown references, deleted orders and outside providers', async () => {
  const { orderId, reference, instructions } = await order();
  await rails.events.deleted(orderId, instructions);
  await rails.events.created(newId('order'), [{ ...page('OUTSIDE'), provider: 'acme' }]);
  const refusals = await Promise.all(
    ['UNKNOWN', reference, 'OUTSIDE'].map((each) => addressesOf(each).catch((error: unknown) => error)),
  );
  for (const refusal of refusals)
    expect(refusal).toMatchObject({ code: 'not_found', message: 'no payment page has this reference' });
});
