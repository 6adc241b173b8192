import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { nodeWallet, type TestWallet } from './test-wallet.ts';

const PAYER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const TOKEN = '0x700b6A60ce7EaaEA56F065753d8dcB9653dbAD35';
const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';

let server: Server;
let wallet: TestWallet;
let results: Record<string, object>;
let sent: unknown[] = [];

beforeAll(async () => {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, params } = (await json(request)) as { method: string; params: unknown[] };
    if (method === 'eth_sendTransaction') sent.push(...params);
    response.end(JSON.stringify(results[method]));
  };
  server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterAll(() => void server.close());
beforeEach(() => {
  sent = [];
  wallet = nodeWallet(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  results = {
    eth_chainId: { result: '0x7a69' },
    eth_accounts: { result: [PAYER, TOKEN] },
    eth_sendTransaction: { result: '0x1' },
  };
});

test('names its chain', async () => expect(await wallet.chainId()).toBe('eip155:31337'));

test('has no chain while the node does not answer, and asks again', async () => {
  results = { eth_chainId: { error: { message: 'starting' } } };
  expect(await wallet.chainId()).toBeNull();
  results = { eth_chainId: { result: '0x1' } };
  expect(await wallet.chainId()).toBe('eip155:1');
});

test('sends the coin of the chain', async () => {
  await wallet.pay({
    chain_id: 'eip155:31337',
    asset: 'eip155:31337/slip44:60',
    address: ADDRESS,
    amount_units: '1000000000000000000',
  });
  expect(sent).toEqual([{ from: PAYER, to: ADDRESS, value: '0xde0b6b3a7640000', data: '0x' }]);
});

test('sends a token', async () => {
  await wallet.pay({
    chain_id: 'eip155:31337',
    asset: `eip155:31337/erc20:${TOKEN}`,
    address: ADDRESS,
    amount_units: '52472200',
  });
  const data = `0xa9059cbb${'0'.repeat(24)}${ADDRESS.slice(2).toLowerCase()}${'0'.repeat(57)}320a988`;
  expect(sent).toEqual([{ from: PAYER, to: TOKEN, value: '0x0', data }]);
});

test('says that it cannot pay', async () => {
  results.eth_sendTransaction = { error: { message: 'insufficient funds' } };
  await expect(
    wallet.pay({ chain_id: 'eip155:31337', asset: 'eip155:31337/slip44:60', address: ADDRESS, amount_units: '1' }),
  ).rejects.toMatchObject({ code: 'dependency_unavailable' });
});
