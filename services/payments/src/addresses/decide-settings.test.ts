import { randomBytes } from 'node:crypto';
import { type DepositSettings, depositSettingsAfter, noDepositSettings, readAssets, settingsOf } from '@cpg/assets';
import { HDKey } from '@scure/bip32';
import { keyHashOf, readAccountKey } from './account-key.ts';
import { decideSettings, type SettingsCommand } from './decide-settings.ts';

const NOW = new Date('2026-01-31T12:00:00.000Z');
const AT = { now: NOW, mostConfirmations: () => 200 };
const NETWORK = 'ethereum-sepolia';
const ETHER = readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 }).assets.find(
  ({ currency }) => currency === 'ETH',
)!;

const node = () => HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'");
const [KEY, OTHER] = [node(), node()].map((each) => readAccountKey(each.publicExtendedKey)) as [
  ReturnType<typeof readAccountKey>,
  ReturnType<typeof readAccountKey>,
];

const set = (merchantId: string | null, key = KEY, changes: object = {}): SettingsCommand => ({
  type: 'SetAccount',
  merchantId,
  network: NETWORK,
  key,
  wasReserved: false,
  ...changes,
});
const confirm = (confirmations: number, fromMinor = 0n): SettingsCommand => ({
  type: 'SetConfirmations',
  merchantId: 'A',
  asset: ETHER,
  fromMinor,
  confirmations,
});

/** The settings after commands that were accepted. */
const given = (...commands: readonly SettingsCommand[]) => {
  const settings = commands.reduce<DepositSettings>(
    (before, command) => depositSettingsAfter(before, events(command, before)),
    noDepositSettings,
  );
  return {
    settings,
    when: (command: SettingsCommand) => ({
      then: (...types: string[]) =>
        expect(decideSettings(command, settings, AT).map(({ event }) => event.type)).toEqual(types),
      thenRefused: (message: RegExp) =>
        expect(() => decideSettings(command, settings, AT)).toThrow(
          expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(message) }),
        ),
    }),
  };
};
const events = (command: SettingsCommand, settings: DepositSettings) =>
  decideSettings(command, settings, AT).map(({ event, secret }) => ({ event, metadata: { secret } }));

test('a merchant sets an account on several networks, and a repeat changes nothing', () => {
  given().when(set('A')).then('DepositAccountSet');
  given(set('A')).when(set('A')).then();
  given(set('A'))
    .when(set('A', KEY, { network: 'bnb', wasReserved: true }))
    .then('DepositAccountSet');
});

test('an account that another merchant or the platform uses is refused', () => {
  given(set('A'))
    .when(set('B'))
    .thenRefused(/deposits for another merchant/);
  given(set(null))
    .when(set('A'))
    .thenRefused(/deposits for the platform/);
  given(set('A'))
    .when(set(null))
    .thenRefused(/deposits for another merchant/);
});

test('an account that somebody used earlier is refused, because money can come late', () => {
  const removed: SettingsCommand = { type: 'RemoveAccount', merchantId: 'A', network: NETWORK };
  given(set('A'), removed)
    .when(set('B'))
    .thenRefused(/another merchant/);
  given(set('A'), set('A', OTHER))
    .when(set('B'))
    .thenRefused(/another merchant/);
  given()
    .when(set('A', KEY, { wasReserved: true }))
    .thenRefused(/the platform/);
});

test('a merchant returns to its own earlier account', () =>
  given(set('A'), set('A', OTHER)).when(set('A')).then('DepositAccountSet'));

test('the same key with another depth is the same account, and keeps its recorded form', () => {
  const bytes = Object.assign(HDKey.fromExtendedKey(KEY.xpub), { depth: 1 });
  const shallow = readAccountKey(bytes.publicExtendedKey);
  expect(shallow.xpub).not.toBe(KEY.xpub);
  const { settings, when } = given(set('A'));
  when(set('A', shallow)).then();
  const [moved] = decideSettings(set('A', shallow, { network: 'bnb' }), settings, AT);
  expect(moved!.secret).toBe(KEY.xpub);
});

test('another key with the fingerprint of a recorded one is refused', () => {
  const chainCode = randomBytes(32);
  const { publicKey } = HDKey.fromExtendedKey(KEY.xpub);
  const twin = readAccountKey(new HDKey({ publicKey: publicKey!, chainCode, depth: 3 }).publicExtendedKey);
  expect(twin.fingerprint).toBe(KEY.fingerprint);
  given(set('A'))
    .when(set('A', twin))
    .thenRefused(/another key has the same fingerprint/);
});

test('an account is removed once', () => {
  const remove: SettingsCommand = { type: 'RemoveAccount', merchantId: 'A', network: NETWORK };
  given(set('A')).when(remove).then('DepositAccountRemoved');
  given(set('A'), remove).when(remove).then();
  given().when(remove).then();
});

test('the key is not part of the data that audits print', () => {
  const [{ event, secret }] = decideSettings(set('A'), noDepositSettings, AT) as [{ event: object; secret: string }];
  expect(secret).toBe(KEY.xpub);
  expect(JSON.stringify(event)).not.toContain(KEY.xpub.slice(4, 24));
});

test('confirmations have bounds of the chain', () => {
  given()
    .when(confirm(0))
    .thenRefused(/must be 1 to 200 on ethereum-sepolia/);
  given()
    .when(confirm(201))
    .thenRefused(/must be 1 to 200/);
  for (const within of [1, 200]) given().when(confirm(within)).then('DepositConfirmationsSet');
});

test('confirmations are removed once', () => {
  const remove: SettingsCommand = { type: 'RemoveConfirmations', merchantId: 'A', asset: ETHER.id };
  given(confirm(3)).when(remove).then('DepositConfirmationsRemoved');
  given(confirm(3), remove).when(remove).then();
  given().when(remove).then();
});

test('each event says what was set, for whom, and when', () => {
  const recorded = (command: SettingsCommand, ...before: SettingsCommand[]) =>
    decideSettings(command, given(...before).settings, AT).map(({ event }) => event.data);
  const at = NOW.toISOString();
  const asset = ETHER.id;
  expect(recorded(set('A'))).toEqual([
    { merchantId: 'A', network: NETWORK, account: KEY.fingerprint, keyHash: keyHashOf(KEY.xpub), at },
  ]);
  expect(recorded({ type: 'RemoveAccount', merchantId: 'A', network: NETWORK }, set('A'))).toEqual([
    { merchantId: 'A', network: NETWORK, at },
  ]);
  expect(recorded(confirm(3, 5n))).toEqual([{ merchantId: 'A', asset, fromMinor: '5', confirmations: 3, at }]);
  expect(recorded({ type: 'RemoveConfirmations', merchantId: 'A', asset }, confirm(3))).toEqual([
    { merchantId: 'A', asset, at },
  ]);
});

test('confirmations are set per amount, and a repeat changes nothing', () => {
  given(confirm(3)).when(confirm(3)).then();
  given(confirm(3)).when(confirm(3, 5n)).then('DepositConfirmationsSet');
  const { settings } = given(confirm(3), confirm(6, 10n), confirm(4));
  const tiers = settings.merchants.get('A')!.confirmations.get(ETHER.id);
  expect(tiers).toEqual([
    { fromMinor: 0n, confirmations: 4 },
    { fromMinor: 10n, confirmations: 6 },
  ]);
});

test('an event of an unknown type, which a newer version wrote, changes nothing', () => {
  const { settings } = given(set('A'));
  const newer = { type: 'DepositSomething', data: { merchantId: 'A', at: NOW.toISOString() } };
  expect(depositSettingsAfter(settings, [{ event: newer as never, metadata: {} }])).toEqual(settings);
});

test('sets the tolerance for underpayment of a merchant, and records nothing for a repeat', () => {
  const tolerate = (toleranceBps: number): SettingsCommand => ({ type: 'SetTolerance', merchantId: 'A', toleranceBps });
  const { settings } = given(tolerate(50));
  expect([settingsOf(settings, 'A').toleranceBps, settingsOf(settings, 'B').toleranceBps]).toEqual([50, 0]);
  expect(decideSettings(tolerate(50), settings, AT)).toEqual([]);
  expect(decideSettings(tolerate(0), settings, AT)).toEqual([
    {
      event: {
        type: 'UnderpaymentToleranceSet',
        data: { merchantId: 'A', toleranceBps: 0, at: NOW.toISOString() },
      },
    },
  ]);
});

const refundAddress = (type: 'AddRefundAddress' | 'RemoveRefundAddress', merchantId = 'A'): SettingsCommand => ({
  type,
  merchantId,
  network: NETWORK,
  address: '0xA1',
});

test('a merchant adds and removes a refund address, and a repeat changes nothing', () => {
  const [add, remove] = [refundAddress('AddRefundAddress'), refundAddress('RemoveRefundAddress')];
  given().when(add).then('RefundAddressAdded');
  given(add).when(add).then();
  given(add).when(remove).then('RefundAddressRemoved');
  given().when(remove).then();
  expect(settingsOf(given(add).settings, 'A').refundAddresses).toEqual(new Map([[NETWORK, ['0xA1']]]));
  expect(settingsOf(given(add, remove).settings, 'A').refundAddresses.get(NETWORK)).toEqual([]);
});

test('a refund address of another merchant is refused, until that merchant removes it', () => {
  const taken = refundAddress('AddRefundAddress', 'B');
  given(taken)
    .when(refundAddress('AddRefundAddress'))
    .thenRefused(/another merchant sends refunds/);
  given(taken, refundAddress('RemoveRefundAddress', 'B'))
    .when(refundAddress('AddRefundAddress'))
    .then('RefundAddressAdded');
});
