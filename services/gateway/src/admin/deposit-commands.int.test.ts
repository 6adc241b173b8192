import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { AppError, type DepositSettingsCall, type DepositSettingsView } from '@cpg/contracts';
import { runCommand } from '@cpg/platform/commands/testing';
import { startGateway, type TestGateway } from '../testing/jest-gateway.ts';
import { addDepositSettingsCommands } from './deposit-commands.ts';

const KEY =
  'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt';
const VIEW: DepositSettingsView = {
  accounts: [{ network: 'ethereum', fingerprint: 'e2c96594', owner: 'merchant', depth: 1, first_address: '0xFIRST' }],
  confirmations: [
    {
      asset: 'eip155:1/slip44:60',
      currency: 'ETH',
      network: 'ethereum',
      owner: 'merchant',
      from: '1',
      confirmations: 3,
    },
  ],
  underpayment_tolerance_percent: 0,
  refund_addresses: [{ network: 'ethereum', address: '0xREFUND' }],
};

let gateway: TestGateway;
let merchant: string;
let folder: string;

beforeAll(async () => {
  gateway = await startGateway();
  merchant = (await gateway.merchant()).id;
  folder = mkdtempSync(join(tmpdir(), 'account-key-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await gateway.close();
});

/** Runs a command against payments that answer with `answer`; returns its output and the calls. */
const run = async (command: string, { stdin = '', answer = async () => VIEW } = {}) => {
  const calls: DepositSettingsCall[] = [];
  const payments = {
    depositSettings: answer,
    changeDepositSettings: (_: string, call: DepositSettingsCall) => {
      calls.push(call);
      return answer();
    },
  };
  const args = command.replace('MERCHANT', merchant).split(' ');
  const admin = { db: gateway.pool, payments, stdin: Readable.from([stdin]) };
  const { output } = await runCommand((program) => addDepositSettingsCommands(program, (work) => work(admin)), args);
  return { output, calls };
};
const refusalOf = (command: string, more: Parameters<typeof run>[1] = {}): Promise<string> =>
  run(command, more).then(
    () => 'no refusal',
    (error: Error) => `${error.name}: ${error.message}`,
  );

test('sets the account of a key on standard input or in a file, and prints its fingerprint, never the key', async () => {
  const file = join(folder, 'key.txt');
  writeFileSync(file, `${KEY}\n`);
  for (const [command, stdin] of [
    ['accounts set MERCHANT --network ethereum', `  ${KEY}\n`],
    ['accounts set MERCHANT --network ethereum --file -', KEY],
    [`accounts set MERCHANT --network ethereum --file ${file}`, ''],
  ] as const) {
    const { output, calls } = await run(command, { stdin });
    expect(calls).toEqual([{ change: 'set_account', network: 'ethereum', key: KEY }]);
    expect(output).toMatch(/ethereum +e2c96594 +merchant +0xFIRST/);
    expect(output).toMatch(/Compare 0xFIRST with the first receiving address[^]*is at depth 1, not 3/);
    expect(output).not.toContain('xpub');
  }
});

test('removes an account, and sets and removes confirmations', async () => {
  const { calls: removed } = await run('accounts remove MERCHANT --network ethereum');
  expect(removed).toEqual([{ change: 'remove_account', network: 'ethereum' }]);
  const asset = 'eip155:1/slip44:60';
  const { calls, output } = await run(`confirmations set MERCHANT --asset ${asset} --confirmations 3 --from 1`);
  expect(calls).toEqual([{ change: 'set_confirmations', asset, confirmations: 3, from: '1' }]);
  expect(output).toMatch(/eip155:1\/slip44:60 +ETH +ethereum +1 +3 +merchant/);
  const { calls: restored } = await run(`confirmations remove MERCHANT --asset ${asset}`);
  expect(restored).toEqual([{ change: 'remove_confirmations', asset }]);
  for (const noun of ['accounts', 'confirmations']) expect((await run(`${noun} show MERCHANT`)).calls).toEqual([]);
});

test('adds, removes and shows refund addresses', async () => {
  for (const change of ['add', 'remove'] as const) {
    const command = `refund-addresses ${change} MERCHANT --network ethereum --address 0xREFUND`;
    const { calls, output } = await run(command);
    expect(calls).toEqual([{ change: `${change}_refund_address`, network: 'ethereum', address: '0xREFUND' }]);
    expect(output).toMatch(/ethereum +0xREFUND/);
  }
  expect((await run('refund-addresses show MERCHANT')).calls).toEqual([]);
  const none = async () => ({ ...VIEW, refund_addresses: [] });
  expect((await run('refund-addresses show MERCHANT', { answer: none })).output).toMatch(/no refund address/);
});

test('a private key does not leave the process, and no message repeats it', async () => {
  const stdin = `zprv${'A1b2C3d4'.repeat(13)}`;
  const refusal = await refusalOf('accounts set MERCHANT --network ethereum', { stdin });
  expect(refusal).toMatch(/^CommandError: this is a private key/);
  expect(refusal).not.toContain('A1b2C3d4');
});

test('a seed phrase gets its own warning, stays in the process, and is not repeated', async () => {
  const stdin = `${'abandon '.repeat(11)}about\n`;
  const refusal = await refusalOf('accounts set MERCHANT --network ethereum', { stdin });
  expect(refusal).toMatch(
    /^CommandError: this is a seed phrase: .* It was not sent anywhere.* move the money to a new/,
  );
  expect(refusal).not.toContain('abandon');
});

test.each([
  [`accounts set MERCHANT ${KEY} --network ethereum`, /too many arguments for 'set'/],
  [`accounts set MERCHANT --network ethereum --file /none/${KEY}`, /cannot read the file of the key: ENOENT/],
  [`accounts set MERCHANT --network ethereum --file - --from 3`, /unknown option '--from'/],
  ['accounts set MERCHANT --network ethereum', /the extended public key is missing/],
  ['accounts set MERCHANT', /required option '--network <network>' not specified/],
  ['accounts show', /missing required argument 'merchant'/],
  ['accounts show mer_none', /there is no merchant mer_none/],
  ['accounts show MERCHANT --from 3', /unknown option '--from'/],
  ['accounts', /the command after 'accounts' is missing/],
  ['confirmations set MERCHANT --asset A --confirmations 1.5', /must be a whole number/],
])('refuses %s', async (command, reason) => {
  const refusal = await refusalOf(command);
  expect(refusal).toMatch(/^Comm(and|ander)Error: /);
  expect(refusal).toMatch(reason);
  expect(refusal).not.toContain(KEY);
});

test('prints the reason of a refusal of payments', async () => {
  const answer = async () => {
    throw new AppError('invalid_request', 'key: the account receives deposits for another merchant');
  };
  const command = 'accounts set MERCHANT --network ethereum';
  expect(await refusalOf(command, { stdin: KEY, answer })).toMatch(/^CommandError: key: the account receives/);
});

test('sets and shows the tolerance for underpayment', async () => {
  const answer = async () => ({ ...VIEW, underpayment_tolerance_percent: 0.5 });
  const { output, calls } = await run('tolerance set MERCHANT --percent 0.5', { answer });
  expect(calls).toEqual([{ change: 'set_tolerance', percent: 0.5 }]);
  expect(output).toContain('at most 0.5 %');
  expect((await run('tolerance show MERCHANT')).output).toContain('whole total');
});

test.each(['5.01', 'five', '1.005', '1e0', ''])('refuses a tolerance of "%s" percent', async (percent) =>
  expect(await refusalOf(`tolerance set MERCHANT --percent ${percent}`)).toContain(
    '--percent must be 0 to 5, with at most 2 decimals',
  ),
);
