import { secretBox } from '@cpg/platform';
import { runCommand } from '@cpg/platform/commands/testing';
import { boxOfEachKey } from '../api/webhooks/webhook-queries.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { PEPPER } from '../testing/jest-merchant.ts';
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

const run = async (verb: string, keys = [NEW, OLD]) => {
  const secrets = { pool: gateway.pool, box: secretBox(keys), pepper: PEPPER };
  return (await runCommand((program) => addSecretsCommands(program, (work) => work(secrets)), ['secrets', verb]))
    .output;
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
