import { type ChainNode, deployTestTokens, startAnvil, TEST_TOKENS } from '@cpg/local-chain';
import { ConfigError, createLogger } from '@cpg/platform';
import type { Asset } from '@cpg/assets';
import { rpcNode, type RpcNode } from '../nodes/json-rpc.ts';
import { refuseTransferFees, simulateTransfer } from './transfer-fees.ts';

let anvil: ChainNode;
let node: RpcNode;
beforeAll(async () => {
  anvil = await startAnvil();
  node = rpcNode({ url: anvil.url, number: 1 });
  await deployTestTokens(anvil.call);
  await anvil.call('anvil_setCode', TAXED, taxedCode());
  await anvil.call('anvil_setCode', SILENT, '0x60006000f3');
});
afterAll(async () => {
  await node.close();
  await anvil.stop();
});

const TAXED = '0x3333333333333333333333333333333333333333';
const SILENT = '0x4444444444444444444444444444444444444444';
const [{ contract: WHOLE }] = TEST_TOKENS;

/** A token whose payee gets 99 of 100 units. Its balances are the mapping in slot 0. */
const taxedCode = (): string => {
  const balanceKey = '6000526040600020'; // the address on the stack becomes the key of its balance
  const transfer = [
    `33${balanceKey}805460243590039055`, // the caller's balance less the amount
    `600435${balanceKey}602435606302606490048154019055`, // the payee's and 99 % of it
    '600160005260206000f3',
  ].join('');
  const dispatch = `60003560e01c8063${'70a08231'}1460`;
  const balanceOf = `5b600435${balanceKey}5460005260206000f3`;
  const target = (dispatch.length + 4 + transfer.length) / 2;
  return `0x${dispatch}${target.toString(16).padStart(2, '0')}57${transfer}${balanceOf}`;
};

test('a token that keeps nothing delivers what was sent', async () => {
  expect(await simulateTransfer(node, WHOLE)).toEqual({ sent: 1_000_000_000n, arrived: 1_000_000_000n });
});

test('a token that keeps a part of each transfer is found out without a transaction', async () => {
  const height = await anvil.call('eth_blockNumber');
  expect(await simulateTransfer(node, TAXED)).toEqual({ sent: 1_000_000_000n, arrived: 990_000_000n });
  expect(await anvil.call('eth_blockNumber')).toBe(height);
});

test('nothing is known about a contract that is no token, or of a node that cannot simulate', async () => {
  expect(await simulateTransfer(node, SILENT)).toBeNull();
  const withoutOverrides = {
    call: async (method: string, [call, block]: readonly unknown[] = []) => node.call(method, [call, block]),
  };
  expect(await simulateTransfer(withoutOverrides, WHOLE)).toBeNull();
  expect(await simulateTransfer({ call: async () => 'rubbish' }, WHOLE)).toBeNull();
});

describe('the check of the file of assets', () => {
  const assetOf = (contract: string, changes: Partial<Asset> = {}): Asset => ({
    currency: 'USDC',
    currencyDecimals: 6,
    network: { kind: 'evm', name: 'local', chainId: 'eip155:31337' },
    id: `eip155:31337/erc20:${contract}`,
    contract,
    decimals: 6,
    smallestPayableMinor: 1n,
    payableStepMinor: 1n,
    requiredConfirmations: 1,
    confirmationTiers: [],
    ...changes,
  });
  const log = createLogger({ name: 'fees', level: 'silent' });
  const check = (assets: Asset[], urls = [anvil.url]) => refuseTransferFees({ assets, urls: { local: urls }, log });

  test('refuses the token by name, and says what to do', async () => {
    await check([assetOf(WHOLE), assetOf(SILENT)]);
    const refused = check([assetOf(WHOLE), assetOf(TAXED)]);
    await expect(refused).rejects.toBeInstanceOf(ConfigError);
    await expect(refused).rejects.toThrow(
      `USDC on local (${TAXED}) keeps a part of each transfer: of 1000000000 units, 990000000 arrive. Payers would pay too little: remove its row from ASSETS_FILE, or add "retired": true`,
    );
  });

  test('leaves a token alone that new orders are not offered, or whose network has no nodes', async () => {
    await check([assetOf(TAXED, { isRetired: true })]);
    await refuseTransferFees({ assets: [assetOf(TAXED)], urls: {}, log });
  });

  test('asks the next node where one does not answer', async () => {
    await check([assetOf(TAXED)], ['http://127.0.0.1:1']);
    await expect(check([assetOf(TAXED)], ['http://127.0.0.1:1', anvil.url])).rejects.toThrow('keeps a part');
  });
});
