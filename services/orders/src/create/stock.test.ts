import { setImmediate as settled } from 'node:timers/promises';
import { type DepositSettings, depositSettingsAfter, noDepositSettings, readAssets } from '@cpg/assets';
import {
  ADDRESS_LEASE_MS,
  AppError,
  type DepositSettingsEvent,
  depositsOf,
  type LeasedAddress,
  type PaymentRail,
  type Stock as LeasedStock,
  type StockCall,
} from '@cpg/contracts';
import { createLogger } from '@cpg/platform';
import { LEAST_LEFT_MS } from './leased-items.ts';
import { createStock } from './stock.ts';

const assets = readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 });
const log = createLogger({ name: 'stock', level: 'silent' });

/** A stock over payments that leases numbered items, or what `answer` says. */
const startStock = (
  answer: (leased: LeasedStock) => LeasedStock | Promise<LeasedStock> = (leased) => leased,
  table = assets,
) => {
  const calls: StockCall[] = [];
  let [nowMs, next] = [5_000, 0];
  let settings: DepositSettings | null = noDepositSettings;
  const address = (name: string): LeasedAddress => ({
    address: `address-${next}`,
    derivation: { fingerprint: name.split('/')[1] ?? 'fd13aac9', path: `0/${next++}` },
  });
  const lease = async (call: StockCall): Promise<LeasedStock> => {
    calls.push(call);
    const lists = Object.entries(call.addresses).map(([network, count]) => [
      network,
      Array.from({ length: count }, () => address(network)),
    ]);
    const reference = () => ({ payment_reference: `REF-${next}`, payment_url: `http://pay/${next++}` });
    const sandbox = Array.from({ length: call.references }, reference);
    return answer({ addresses: Object.fromEntries(lists), references: { sandbox } });
  };
  const unavailable = new Set<string>();
  const isAvailable = (network: string) => !unavailable.has(network);
  const stock = createStock({ assets: table, settings: () => settings, isAvailable, lease, log, nowMs: () => nowMs });
  return {
    calls,
    pass: (ms: number) => void (nowMs += ms),
    setAvailable: (network: string, value: boolean) =>
      void (value ? unavailable.delete(network) : unavailable.add(network)),
    forgetSettings: () => void (settings = null),
    record: (...events: DepositSettingsEvent[]) =>
      void (settings = depositSettingsAfter(
        settings!,
        events.map((event) => ({ event, metadata: {} })),
      )),
    /** Takes for an order, and waits for the refill. */
    take: async (
      currency: 'ETH' | 'BTC' | 'USDC' = 'ETH',
      rails: PaymentRail[] = ['crypto_deposit'],
      merchantId = 'M',
    ) => {
      const taken = stock.take({ merchantId, currency, rails, totalMinor: 10n ** 18n });
      await settled();
      return taken;
    },
  };
};
const addressesIn = (taken: Awaited<ReturnType<ReturnType<typeof startStock>['take']>>) =>
  taken!.instructions.map((instruction) => (instruction.rail === 'crypto_deposit' ? instruction.address : null));

test('the first order of a network finds nothing, and the next ones find leased addresses of that network alone', async () => {
  const { take, calls } = startStock();
  expect(await take('ETH')).toBeNull();
  expect(calls).toEqual([{ addresses: { 'ethereum-sepolia': 4 }, references: 0 }]);
  expect([addressesIn(await take('ETH')), addressesIn(await take('USDC'))]).toEqual([['address-0'], ['address-1']]);
  expect(await take('BTC')).toBeNull();
});

test('an order that needs more than the stock has takes nothing', async () => {
  const { take } = startStock();
  await take('ETH');
  expect(await take('ETH', ['gateway_pay', 'crypto_deposit'])).toBeNull();
  const both = await take('ETH', ['gateway_pay', 'crypto_deposit']);
  expect(both!.instructions).toMatchObject([
    { rail: 'gateway_pay', provider: 'sandbox', paymentReference: expect.stringMatching(/^REF-/) },
    { rail: 'crypto_deposit', address: 'address-0' },
  ]);
});

test('what was put back is taken next', async () => {
  const { take } = startStock();
  await take();
  (await take())!.putBack();
  expect(addressesIn(await take())).toEqual(['address-0']);
});

test('the lease counts from before the call, and is refused at its end by the monotonic clock', async () => {
  const { take, pass } = startStock((leased) => {
    pass(100_000);
    return leased;
  });
  await take();
  pass(ADDRESS_LEASE_MS - 100_000 - LEAST_LEFT_MS);
  const taken = (await take())!;
  pass(LEAST_LEFT_MS - 1);
  taken.requireLease();
  pass(1);
  expect(() => taken.requireLease()).toThrow(expect.objectContaining({ code: 'dependency_unavailable' }));
});

test('a stock that lapsed is not used', async () => {
  const { take, pass } = startStock();
  await take();
  pass(ADDRESS_LEASE_MS);
  expect(await take()).toBeNull();
  expect(addressesIn(await take())).toEqual(['address-4']);
});

test('the stock lasts for a minute without payments, at the rate of the minute before', async () => {
  let available = true;
  const { take, pass } = startStock((leased) => {
    if (available) return leased;
    throw new AppError('dependency_unavailable', 'payments is temporarily unavailable');
  });
  const perMinute = async (orders: number) => {
    const found = [];
    for (let n = 0; n < orders; n += 1) {
      found.push((await take()) !== null);
      pass(60_000 / orders);
    }
    return found.filter(Boolean).length;
  };
  await perMinute(30);
  await perMinute(30);
  available = false;
  expect(await perMinute(16)).toBe(16);
});

test('one refill runs at a time', async () => {
  let release = () => {};
  const { take, calls } = startStock((leased) => new Promise((done) => (release = () => done(leased))));
  for (let n = 0; n < 5; n += 1) await take();
  expect(calls).toHaveLength(1);
  release();
  await settled();
  expect(addressesIn(await take())).toEqual(['address-0']);
});

test('while payments is unavailable, the stock lasts, and a refill is tried once a second', async () => {
  let available = true;
  const { take, pass, calls } = startStock((leased) => {
    if (available) return leased;
    throw new AppError('dependency_unavailable', 'payments is temporarily unavailable');
  });
  await take();
  available = false;
  const found = [];
  for (let n = 0; n < 6; n += 1) found.push((await take()) !== null);
  expect(found).toEqual([true, true, true, true, false, false]);
  expect(calls).toHaveLength(2);
  available = true;
  pass(1_000);
  await take();
  expect(await take()).not.toBeNull();
});

test('after a refusal of payments, a refill is tried once a minute', async () => {
  const { take, pass, calls } = startStock(() => {
    throw new AppError('not_found', 'payments of this version leases nothing');
  });
  await take();
  pass(59_999);
  await take();
  expect(calls).toHaveLength(1);
  pass(1);
  await take();
  expect(calls).toHaveLength(2);
});

test('references of providers that register each order are asked for once a minute', async () => {
  const { take, pass, calls } = startStock((leased) => ({ ...leased, references: null }));
  for (let n = 0; n < 5; n += 1) expect(await take('ETH', ['gateway_pay'])).toBeNull();
  expect(calls).toEqual([{ addresses: {}, references: 4 }]);
  pass(60_000);
  await take('ETH', ['gateway_pay']);
  expect(calls).toHaveLength(2);
});

const page = (n: number) => ({ payment_reference: `REF-${n}`, payment_url: `http://pay/${n}` });
const usdc = assets.assets.find(({ currency }) => currency === 'USDC')!;
const base = { ...usdc.network, name: 'base', chainId: 'eip155:84532' };
const ON_TWO_NETWORKS = {
  networks: [usdc.network, base],
  assets: [usdc, { ...usdc, network: base, id: `${base.chainId}/erc20:${usdc.contract}` }],
};

const AT = '2026-01-31T12:00:00.000Z';
const NETWORK = 'ethereum-sepolia';
const ETHER = assets.assets.find(({ currency }) => currency === 'ETH')!.id;
const accountSet = (merchantId: string, account: string): DepositSettingsEvent => ({
  type: 'DepositAccountSet',
  data: { merchantId, network: NETWORK, account, keyHash: 'h', at: AT },
});
const fingerprintsIn = (taken: Awaited<ReturnType<ReturnType<typeof startStock>['take']>>) =>
  taken!.instructions.map((each) => (each.rail === 'crypto_deposit' ? each.derivation.fingerprint : null));

test('an order gets an address of its merchant, from the first one after the account was set', async () => {
  const { take, calls, record } = startStock();
  const takeFor = (merchant: string) => take('ETH', ['crypto_deposit'], merchant);
  await takeFor('A');
  record(accountSet('A', 'aaaaaaaa'), accountSet('B', 'bbbbbbbb'));
  expect([await takeFor('A'), await takeFor('B')]).toEqual([null, null]);
  expect(calls.slice(1).map(({ addresses }) => addresses)).toEqual([
    { [`${NETWORK}/aaaaaaaa`]: 4 },
    { [`${NETWORK}/bbbbbbbb`]: 4 },
  ]);
  const taken = [await takeFor('A'), await takeFor('B'), await takeFor('other')];
  expect(taken.map(fingerprintsIn)).toEqual([['aaaaaaaa'], ['bbbbbbbb'], ['fd13aac9']]);
  record(accountSet('A', 'a2a2a2a2'));
  expect(await takeFor('A')).toBeNull();
  expect(fingerprintsIn(await takeFor('A'))).toEqual(['a2a2a2a2']);
  record({ type: 'DepositAccountRemoved', data: { merchantId: 'A', network: NETWORK, at: AT } });
  expect(fingerprintsIn(await takeFor('A'))).toEqual(['fd13aac9']);
});

test('leased addresses of another account than the one asked for are not used', async () => {
  const { take, record } = startStock((leased) => ({
    ...leased,
    addresses: Object.fromEntries(
      Object.entries(leased.addresses).map(([name, each]) => [
        name,
        each.map(({ address }) => ({ address, derivation: { fingerprint: 'fd13aac9', path: '0/0' } })),
      ]),
    ),
  }));
  record(accountSet('M', 'aaaaaaaa'));
  expect([await take(), await take()]).toEqual([null, null]);
});

test('while the settings are not known, payments assigns the instructions', async () => {
  const { take, calls, forgetSettings } = startStock();
  await take();
  forgetSettings();
  expect(await take()).toBeNull();
  expect(calls).toHaveLength(1);
});

test('no order gets an address on a network that nobody reads, and payments decides', async () => {
  const { take, calls, setAvailable } = startStock();
  await take();
  setAvailable(NETWORK, false);
  expect(await take()).toBeNull();
  expect(await take('ETH', ['gateway_pay', 'crypto_deposit'])).toBeNull();
  expect(calls).toHaveLength(1);
  setAvailable(NETWORK, true);
  expect(addressesIn(await take())).toEqual(['address-0']);
});

test('a page has addresses on the networks that are read alone', async () => {
  const pages = { hosted: [1, 2, 3, 4].map((n) => ({ ...page(n), networks: ['base', NETWORK] })) };
  const { take, setAvailable } = startStock((leased) => ({ ...leased, references: pages }), ON_TWO_NETWORKS);
  const networksOf = async () =>
    (await take('USDC', ['gateway_pay']))?.instructions.flatMap(depositsOf).map(({ network }) => network);
  await networksOf();
  await networksOf();
  expect(await networksOf()).toEqual([NETWORK, 'base']);
  setAvailable(NETWORK, false);
  expect(await networksOf()).toEqual(['base']);
  setAvailable('base', false);
  expect(await networksOf()).toBeUndefined();
});

test('an order shows the confirmations that its merchant requires for the amount', async () => {
  const { take, record } = startStock();
  const confirmationsFor = async (merchant: string) => {
    const [each] = (await take('ETH', ['crypto_deposit'], merchant))!.instructions;
    return each?.rail === 'crypto_deposit' ? each.requiredConfirmations : null;
  };
  await take();
  const set = (fromMinor: string, confirmations: number): DepositSettingsEvent => ({
    type: 'DepositConfirmationsSet',
    data: { merchantId: 'M', asset: ETHER, fromMinor, confirmations, at: AT },
  });
  const platform = await confirmationsFor('other');
  record(set('0', 41), set(String(10n ** 18n), 42), set(String(10n ** 18n + 1n), 43));
  expect([await confirmationsFor('M'), await confirmationsFor('other')]).toEqual([42, platform]);
  record({ type: 'DepositConfirmationsRemoved', data: { merchantId: 'M', asset: ETHER, at: AT } });
  expect(await confirmationsFor('M')).toBe(platform);
});
