import { callData, deploymentData } from './contracts.ts';
import type { RpcCall } from './json-rpc.ts';
import { mined, sendFrom } from './transactions.ts';

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
