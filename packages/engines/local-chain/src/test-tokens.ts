import { type AbiValue, callData, deploymentData } from './contracts.ts';
import type { RpcCall } from './node-process.ts';
import { hexOf, mined, type Receipt, sendFrom } from './transactions.ts';

/** Account of anvil that has coins and test tokens, and pays orders. */
export const PAYER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

/** Account of anvil that deploys and mints the test tokens. Its first transactions decide their addresses. */
const DEPLOYER = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720';

/** The test tokens of a local chain, in the order of their deployment. */
export const TEST_TOKENS = [
  { currency: 'USDT', decimals: 6, contract: '0x700b6A60ce7EaaEA56F065753d8dcB9653dbAD35' },
  { currency: 'USDC', decimals: 6, contract: '0xb19b36b1456E65E3A6D514D3F715f204BD59f431' },
  { currency: 'USDG', decimals: 6, contract: '0xe1Aa25618fA0c7A1CFDab5d6B456af611873b629' },
  { currency: 'CAZ', decimals: 18, contract: '0x0C8E79F3534B00D9a3D4a856B665Bf4eBC22f2ba' },
] as const;

const MINTED_TOKENS = 10n ** 12n;

/** Deploys the test tokens and mints an amount of each to the payer, unless it is done already. It continues where an
 *  interrupted run stopped. Throws Error if the tokens are not at their addresses afterwards. */
export const deployTestTokens = async (call: RpcCall): Promise<void> => {
  const transactions = TEST_TOKENS.flatMap(({ currency, decimals, contract }) => [
    { data: deploymentData('TestToken', currency, BigInt(decimals)) },
    { to: contract, data: mintData(PAYER, MINTED_TOKENS * 10n ** BigInt(decimals)) },
  ]);
  const sent = Number(await call<string>('eth_getTransactionCount', DEPLOYER, 'latest'));
  for (const [nonce, transaction] of transactions.entries()) {
    if (nonce < sent) continue;
    await mined(call, await sendFrom(call, DEPLOYER, { ...transaction, nonce: `0x${nonce.toString(16)}` }));
  }
  for (const { currency, contract } of TEST_TOKENS) {
    if ((await call<string>('eth_getCode', contract, 'latest')) === '0x')
      throw new Error(`the chain has no ${currency} at ${contract}: another program used the account ${DEPLOYER}`);
  }
};

/** Mints test tokens, as their deployer. Resolves with the hash of the transaction. */
export const mintTestTokens = (call: RpcCall, contract: string, to: string, units: bigint): Promise<string> =>
  sendFrom(call, DEPLOYER, { to: contract, data: mintData(to, units) });

const mintData = (to: string, units: bigint) => callData('TestToken', 'mint(address,uint256)', { address: to }, units);

/** Money on an EVM chain: its coin, or a token by its contract. */
export type EvmAsset = 'native' | { readonly contract: string };

/** The asset with a CAIP-19 id. */
export const evmAssetOf = (id: string): EvmAsset => {
  const contract = /\/erc20:(0x[0-9a-fA-F]{40})$/.exec(id)?.[1];
  return contract ? { contract } : 'native';
};

/** Pays from the funded account, and resolves once a block contains the transaction. Throws Error if it is reverted. */
export const pay = async (call: RpcCall, asset: EvmAsset, to: string, units: bigint): Promise<Receipt> => {
  const transaction =
    asset === 'native'
      ? { to, value: hexOf(units) }
      : { to: asset.contract, data: callData('TestToken', 'transfer(address,uint256)', { address: to }, units) };
  const receipt = await mined(call, await sendFrom(call, PAYER, transaction));
  if (receipt.status !== '0x1') throw new Error(`the transaction ${receipt.transactionHash} was reverted`);
  return receipt;
};

/** A contract that pays others from inside a transaction. */
export interface Forwarder {
  readonly address: string;
  /** Coins reach `to` by a call inside the transaction. */
  readonly forward: (to: string, units: bigint) => Promise<Receipt>;
  /** The same, in a transaction that is reverted. */
  readonly forwardAndRevert: (to: string, units: bigint) => Promise<Receipt>;
  /** Sends tokens of the contract in two transfers of one transaction. */
  readonly sendTwice: (token: string, to: string, first: bigint, second: bigint) => Promise<Receipt>;
  readonly sendAndRevert: (token: string, to: string, units: bigint) => Promise<Receipt>;
}

// Nodes do not estimate the gas of a transaction that will be reverted.
const GAS = hexOf(500_000n);

export const deployForwarder = async (call: RpcCall): Promise<Forwarder> => {
  const deployed = await mined(call, await sendFrom(call, PAYER, { data: deploymentData('Forwarder') }));
  const address = deployed.contractAddress!;
  const send = async (signature: string, values: readonly AbiValue[], value = 0n) => {
    const data = callData('Forwarder', signature, ...values);
    return mined(call, await sendFrom(call, PAYER, { to: address, data, gas: GAS, value: hexOf(value) }));
  };
  return {
    address,
    forward: (to, units) => send('forward(address)', [{ address: to }], units),
    forwardAndRevert: (to, units) => send('forwardAndRevert(address)', [{ address: to }], units),
    sendTwice: (token, to, first, second) =>
      send('sendTwice(address,address,uint256,uint256)', [{ address: token }, { address: to }, first, second]),
    sendAndRevert: (token, to, units) =>
      send('sendAndRevert(address,address,uint256)', [{ address: token }, { address: to }, units]),
  };
};
