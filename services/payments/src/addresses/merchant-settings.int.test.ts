import {
  CurrencyScaleRecorded,
  DEPOSIT_SETTINGS_STREAM,
  DepositSettingsEvent,
  type PaymentCurrency,
  SCALES_STREAM,
} from '@cpg/contracts';
import { readHistoryEntries, readStream, verifyHashChains } from '@cpg/event-sourcing';
import { ConfigError, newId } from '@cpg/platform';
import { HDKey } from '@scure/bip32';
import { findPayable } from '../payables/find-payable.ts';
import { readAccountKey } from './account-key.ts';
import { depositNetworksOf } from './deposit-network.ts';
import { CONTEXT } from '../testing/jest-fixtures.ts';
import { depositOf, log, ownKey, type RailsDatabase, SANDBOX, startRailsDatabase } from '../testing/jest-rails.ts';

const NETWORK = 'ethereum-sepolia';
let rails: RailsDatabase;

beforeAll(async () => void (rails = await startRailsDatabase()));
afterAll(() => rails.stop());

type Process = ReturnType<RailsDatabase['startStock']>;
const setAccount = (process: Process, merchantId: string, key: string, network = NETWORK) =>
  process.settings.change(merchantId, { change: 'set_account', network, key }, CONTEXT);
const depositFor = (process: Process, merchantId: string) =>
  depositOf(process.assign, newId('order'), 'ETH', ['crypto_deposit'], { merchantId });
const fingerprintOf = (key: string) => readAccountKey(key).fingerprint;
const recorded = async () => (await readStream(rails.client, DEPOSIT_SETTINGS_STREAM, DepositSettingsEvent))!;

test('orders get addresses of the account of their merchant, from the moment it is set until it is removed', async () => {
  const [here, there] = [rails.startStock(), rails.startStock()];
  const [merchantId, key] = [newId('merchant'), ownKey()];
  const platform = (await depositFor(there, merchantId)).derivation.fingerprint;
  const view = await setAccount(here, merchantId, key);
  const fingerprint = fingerprintOf(key);
  const first_address = depositNetworksOf(SANDBOX, { evm: key })
    .find(({ name }) => name === NETWORK)!
    .addressAt(0);
  expect(view.accounts.find(({ network }) => network === NETWORK)).toEqual({
    network: NETWORK,
    fingerprint,
    owner: 'merchant',
    depth: 3,
    first_address,
  });
  expect(await depositFor(there, merchantId)).toMatchObject({
    address: first_address,
    derivation: { fingerprint, path: '0/0' },
  });
  expect((await depositFor(there, newId('merchant'))).derivation.fingerprint).toBe(platform);
  const { addresses } = await there.lease({ addresses: { [`${NETWORK}/${fingerprint}`]: 2 }, references: 0 });
  expect(addresses[`${NETWORK}/${fingerprint}`]!.map(({ derivation }) => derivation)).toEqual([
    { fingerprint, path: '0/1' },
    { fingerprint, path: '0/2' },
  ]);
  await here.settings.change(merchantId, { change: 'remove_account', network: NETWORK }, CONTEXT);
  expect((await depositFor(there, merchantId)).derivation.fingerprint).toBe(platform);
});

test('of two merchants that set one key at the same time, through two instances, one gets it', async () => {
  const key = ownKey();
  const merchants = [newId('merchant'), newId('merchant')];
  const both = await Promise.allSettled(merchants.map((each) => setAccount(rails.startStock(), each, key)));
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'invalid_request', message: expect.stringMatching(/deposits for another merchant/) },
  });
  expect(
    (await recorded()).filter(({ event }) => 'account' in event.data && event.data.account === fingerprintOf(key)),
  ).toHaveLength(1);
});

test('an order that shows an address of an earlier account is found, and the account stays watched', async () => {
  const process = rails.startStock();
  const merchantId = newId('merchant');
  const [earlier, later] = [ownKey(), ownKey()];
  await setAccount(process, merchantId, earlier);
  const deposit = await depositFor(process, merchantId);
  const orderId = newId('order');
  await rails.events.created(orderId, [deposit]);
  await setAccount(process, merchantId, later);
  await process.settings.change(merchantId, { change: 'remove_account', network: NETWORK }, CONTEXT);
  const watched = await rails.startStock().accounts.accountsOf(NETWORK);
  const fingerprints = watched.map(({ account }) => account.fingerprint);
  expect(fingerprints).toEqual(expect.arrayContaining([earlier, later].map(fingerprintOf)));
  expect(fingerprints).toContain(depositNetworksOf(SANDBOX).find(({ name }) => name === NETWORK)!.account.fingerprint);
  expect(watched.find(({ account }) => account.fingerprint === fingerprintOf(earlier))!.addressAt(0)).toBe(
    deposit.address,
  );
  expect(await process.accounts.accountsOf('bitcoin-testnet')).toHaveLength(1);
  const find = findPayable({ client: rails.client, readModel: rails.pool, log });
  expect(await find({ address: deposit.address })).toMatchObject({ orderId });
});

test('with another PostgreSQL, or an older one, accounts are the same and no address is shown twice', async () => {
  const [merchantId, key] = [newId('merchant'), ownKey()];
  const before = rails.startStock();
  await setAccount(before, merchantId, key);
  const first = await depositFor(before, merchantId);
  await rails.pool.query('truncate payments.payables, payments.reserved_indexes, payments.deposit_addresses');
  const after = rails.startStock();
  const second = await depositFor(after, merchantId);
  expect([first, second].map(({ derivation }) => derivation.path)).toEqual(['0/0', '0/1']);
  expect(second.derivation.fingerprint).toBe(fingerprintOf(key));
});

const root = HDKey.fromMasterSeed(Buffer.alloc(32, 7));
const zprv = new HDKey({ ...keysOf(root), versions: { private: 0x04b2430c, public: 0x04b24746 } });
function keysOf({ privateKey, chainCode }: HDKey) {
  return { privateKey: privateKey!, chainCode: chainCode! };
}

test.each([
  ['a private key', NETWORK, root.privateExtendedKey, /^key: .* is a private key/],
  ['a private key of another form', NETWORK, zprv.privateExtendedKey, /^key: .* is a private key/],
  [
    'a private key with a typing error',
    NETWORK,
    root.privateExtendedKey.replace(/.$/, '1'),
    /is a private key, which can spend/,
  ],
  ['a raw private key', NETWORK, Buffer.from(root.privateKey!).toString('hex'), /is a private key, which can spend/],
  ['words', NETWORK, 'abandon '.repeat(11) + 'about', /is a seed phrase, which can spend/],
  ['a key of another kind of network', 'bitcoin-testnet', ownKey(), /is a xpub: it must be tpub or vpub/],
  [
    'a network that is not configured',
    'no-such',
    ownKey(),
    /^network: there is no network "no-such": the networks of this gateway are /,
  ],
  ['the key of the platform', NETWORK, platformKey(), /deposits for the platform/],
])('refuses %s without repeating it, and records nothing', async (_, network, key, reason) => {
  const process = rails.startStock();
  await process.accounts.recordPlatform();
  const before = (await recorded()).length;
  const refusal = await setAccount(process, newId('merchant'), key, network).catch((error: Error) => error);
  expect(refusal).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(reason) });
  for (const part of key.match(/.{12}/g)!) expect(JSON.stringify([refusal, causesOf(refusal)])).not.toContain(part);
  expect(await recorded()).toHaveLength(before);
});

function platformKey(): string {
  return depositNetworksOf(SANDBOX).find(({ name }) => name === NETWORK)!.account.xpub;
}
const causesOf = (error: unknown): string => (error instanceof Error ? `${error.stack} ${causesOf(error.cause)}` : '');

test('production refuses a published test key', async () => {
  const others = depositNetworksOf(SANDBOX, { evm: ownKey() });
  const process = rails.startStock([], undefined, { networks: others, environment: 'production' });
  await expect(setAccount(process, newId('merchant'), platformKey())).rejects.toThrow(/is published in/);
});

test('a platform key that belongs to a merchant stops deposits of that network alone, and says so', async () => {
  const [merchantId, key] = [newId('merchant'), ownKey()];
  await setAccount(rails.startStock(), merchantId, key);
  const wrong = rails.startStock([], undefined, { networks: depositNetworksOf(SANDBOX, { evm: key }) });
  await expect(wrong.accounts.recordPlatform()).rejects.toThrow(ConfigError);
  await expect(depositFor(wrong, newId('merchant'))).rejects.toMatchObject({ code: 'dependency_unavailable' });
  await expect(wrong.lease({ addresses: { [NETWORK]: 1 }, references: 0 })).rejects.toThrow(/unavailable/);
  expect((await depositFor(wrong, merchantId)).derivation.fingerprint).toBe(fingerprintOf(key));
  const { addresses } = await wrong.lease({ addresses: { 'bitcoin-testnet': 1 }, references: 0 });
  expect(addresses['bitcoin-testnet']).toHaveLength(1);
});

test('an earlier key of the platform, of which only reservations tell, is refused', async () => {
  const key = ownKey();
  await rails.events.reserved(fingerprintOf(key), 0, 4);
  await expect(setAccount(rails.startStock(), newId('merchant'), key)).rejects.toThrow(/deposits for the platform/);
});

test('audits verify the hash of a key and never print the key', async () => {
  const key = ownKey();
  await setAccount(rails.startStock(), newId('merchant'), key);
  const prefixes = [DEPOSIT_SETTINGS_STREAM];
  const signal = new AbortController().signal;
  expect(await verifyHashChains(rails.client, { prefixes, signal })).toMatchObject({ faults: 0 });
  const printed = JSON.stringify(
    await readHistoryEntries(rails.client, [{ name: DEPOSIT_SETTINGS_STREAM, startedAt: '' }], { from: '', to: '9' }),
  );
  expect(printed).toContain(fingerprintOf(key));
  expect(printed).not.toContain('xpub');
});

test('shows the confirmations of the merchant beside those of the platform', async () => {
  const { settings, accounts } = rails.startStock();
  const merchantId = newId('merchant');
  const asset = SANDBOX.assets.find(({ currency }) => currency === 'USDC')!;
  const set = { change: 'set_confirmations', asset: asset.id } as const;
  await settings.change(merchantId, { ...set, confirmations: 30, from: '1000.5' }, CONTEXT);
  const shown = (await settings.show(merchantId)).confirmations.filter((each) => each.asset === asset.id);
  expect(shown).toEqual([
    expect.objectContaining({ owner: 'platform', from: '0.000000', confirmations: asset.requiredConfirmations }),
    expect.objectContaining({ owner: 'merchant', from: '1000.500000', confirmations: 30 }),
  ]);
  expect(await accounts.requiredConfirmations(merchantId, asset, 1_000_499_999n)).toBe(asset.requiredConfirmations);
  expect(await accounts.requiredConfirmations(merchantId, asset, 1_000_500_000n)).toBe(30);
  for (const [change, reason] of [
    [{ ...set, confirmations: 0 }, /must be 1 to 200/],
    [{ ...set, confirmations: 3, from: '0.0000001' }, /^from: /],
    [{ ...set, confirmations: 3, from: '-1' }, /^from: /],
    [{ ...set, asset: 'eip155:1/slip44:60', confirmations: 3 }, /^asset: there is no such asset/],
  ] as const)
    await expect(settings.change(merchantId, change, CONTEXT)).rejects.toThrow(reason);
});

test('an amount of confirmations is stored only with the recorded decimals of its currency', async () => {
  const { settings } = rails.startStock();
  const merchantId = newId('merchant');
  const assetOf = (wanted: PaymentCurrency) => SANDBOX.assets.find(({ currency }) => currency === wanted)!.id;
  const set = (currency: PaymentCurrency, from?: string) =>
    settings.change(
      merchantId,
      { change: 'set_confirmations', asset: assetOf(currency), confirmations: 9, ...(from !== undefined && { from }) },
      CONTEXT,
    );
  const scales = async () => (await readStream(rails.client, SCALES_STREAM, CurrencyScaleRecorded))!;
  const wrong = { currency: 'USDT', decimals: 2, at: new Date().toISOString() };
  const last = (await scales()).at(-1)?.revision;
  await rails.events.record(SCALES_STREAM, 'CurrencyScaleRecorded', wrong, last);
  const before = (await recorded()).length;
  await expect(set('USDT', '5')).rejects.toMatchObject({ code: 'dependency_unavailable' });
  expect((await recorded()).length).toBe(before);
  await set('USDT');
  await set('ETH', '0.5');
  expect((await scales()).map(({ event }) => event.data)).toContainEqual(
    expect.objectContaining({ currency: 'ETH', decimals: 18 }),
  );
});

test('shows the tolerance for underpayment that was set, and 0 before', async () => {
  const { settings } = rails.startStock();
  const merchantId = newId('merchant');
  const percentOf = async () => (await settings.show(merchantId)).underpayment_tolerance_percent;
  expect(await percentOf()).toBe(0);
  const set = { change: 'set_tolerance', percent: 1.25 } as const;
  expect((await settings.change(merchantId, set, CONTEXT)).underpayment_tolerance_percent).toBe(1.25);
  expect(await percentOf()).toBe(1.25);
});

/** Last: no instance reads the settings after it. */
test('a key that was exchanged in the event store is noticed', async () => {
  const last = (await recorded()).at(-1)!;
  const [key, other] = [ownKey(), ownKey()].map(readAccountKey);
  const data = { merchantId: newId('merchant'), network: NETWORK, account: key!.fingerprint, keyHash: 'f'.repeat(64) };
  await rails.events.record(DEPOSIT_SETTINGS_STREAM, 'DepositAccountSet', data, last.revision, { secret: other!.xpub });
  const { accounts } = rails.startStock();
  await expect(accounts.accountsOf(NETWORK)).rejects.toThrow(/is not the one that was set/);
});
