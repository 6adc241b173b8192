import { secretBox } from '@cpg/platform';
import { runCommand } from '@cpg/platform/commands/testing';
import { noteSigner } from '@cpg/transparency-log';
import { boxOfEachKey } from '../api/webhooks/webhook-queries.ts';
import { setTotp, totpBoxOfEachKey, totpRow, userById } from '../identity/users.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { PEPPER } from '../testing/jest-merchant.ts';
import { createTestUser } from '../testing/jest-users.ts';
import { addSecretsCommands, sealedWebhooks, updateSealed } from './secrets.ts';

const OLD = 'key of the tests that seals, thirty-two characters';
const NEW = 'the new key of the tests, more than thirty-two characters';
const WEBHOOK = { url: 'https://shop.example/hooks', events: ['order:paid'] };

let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

const run = async (command: string, keys = [NEW, OLD], auditLogKey: string | null = null) => {
  const secrets = { pool: gateway.pool, box: secretBox(keys), pepper: PEPPER, auditLogKey };
  return (
    await runCommand(
      (program) => addSecretsCommands(program, (work) => work(secrets)),
      ['secrets', ...command.split(' ')],
    )
  ).output;
};

test('reseal encrypts secrets of webhooks and stored responses with the first key, and can run again', async () => {
  const headers = { 'idempotency-key': 'sealed' };
  const { id } = (await shop.send('POST', '/v1/webhooks', WEBHOOK, headers)).body;
  const { secret } = (await shop.send('POST', `/v1/webhooks/${id}/rotate-secret`)).body;
  expect(await run('status')).toMatch('not encrypted with the first key: 2 of 2, first webhook');
  expect(await run('reseal')).toMatch(/^encrypted again: 2\nnot encrypted with the first key: 0 of 2\n/);
  expect(await run('reseal')).toMatch(/^encrypted again: 0\n/);
  expect(await run('status')).toMatch('active API keys not hashed with the first pepper: 0 of 1');
  const [row] = await sealedWebhooks(gateway.pool);
  expect(row!.boxes).toHaveLength(2);
  expect(secretBox([NEW]).open(row!.boxes[0]!, row!.row)).toBe(secret);
});

test('reseal encrypts the secrets of authenticator apps', async () => {
  const { id } = await createTestUser(gateway, shop.id, 'owner');
  await setTotp(gateway.pool, id, secretBox([OLD]).seal('GEZDGNBVGY3TQOJQ', totpRow(id)), new Date());
  const boxes = await totpBoxOfEachKey(gateway.pool);
  expect(() => secretBox([NEW]).requireKeysOf(boxes)).toThrow(/lacks a key/);
  expect(await run('status')).toContain(`first the authenticator app of user ${id}`);
  expect(await run('reseal')).toMatch(/^encrypted again: 1\n/);
  const { totp_box: box } = (await userById(gateway.pool, shop.id, id))!;
  expect(secretBox([NEW]).open(box!, totpRow(id))).toBe('GEZDGNBVGY3TQOJQ');
});

test('a webhook that is rotated meanwhile keeps its new secret', async () => {
  const [row] = await sealedWebhooks(gateway.pool);
  const stale = { ...row!, boxes: row!.boxes.map((sealed) => `${sealed}-before`) };
  expect(await updateSealed(gateway.pool, stale, row!.boxes)).toBe(false);
});

test('a secret that no key decrypts is named', async () => {
  await expect(run('reseal', ['a third key of the tests, more than thirty-two characters'])).rejects.toThrow(
    /^cannot decrypt webhook whk_\w+: no encryption key matches .*: add that key to WEBHOOK_ENCRYPTION_KEY$/,
  );
});

test('each key that encrypted a secret of a webhook is needed at the start', async () => {
  await shop.send('POST', '/v1/webhooks', WEBHOOK);
  const boxes = await boxOfEachKey(gateway.pool);
  expect(() => secretBox([NEW]).requireKeysOf(boxes)).toThrow(/lacks a key .* add it to the list/);
  expect(() => secretBox([NEW, OLD]).requireKeysOf(boxes)).not.toThrow();
});

test('new-audit-log-key makes a key of the named log, and its public key', async () => {
  const [first, , , publicKey] = (await run('new-audit-log-key pay.example.com')).split('\n');
  const signer = noteSigner(first!.replace('AUDIT_LOG_KEY=', ''));
  expect(signer).toMatchObject({ name: 'pay.example.com', verifierKey: publicKey });
  expect((await run('new-audit-log-key pay.example.com')).split('\n')[0]).not.toBe(first);
});

test('audit-log-key prints the public key, or says that there is none', async () => {
  expect(await run('audit-log-key', [NEW], 'pay.example+00000000+AQ==')).toBe('pay.example+00000000+AQ==');
  await expect(run('audit-log-key')).rejects.toThrow('AUDIT_LOG_KEY is not set');
});
