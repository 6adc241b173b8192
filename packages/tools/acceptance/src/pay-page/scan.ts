import { type EvmAsset, pay, type Receipt, type RpcCall } from '@cpg/local-chain';

/** The transfer on the local chain that an EIP-681 URI asks for. Throws Error for another chain. */
export const transferOf = (uri: string): { asset: EvmAsset; to: string; units: bigint } => {
  const token = /^ethereum:(0x[0-9a-fA-F]{40})@31337\/transfer\?address=(0x[0-9a-fA-F]{40})&uint256=(\d+)$/.exec(uri);
  if (token) return { asset: { contract: token[1]! }, to: token[2]!, units: BigInt(token[3]!) };
  const coin = /^ethereum:(0x[0-9a-fA-F]{40})@31337\?value=(\d+)$/.exec(uri);
  if (coin) return { asset: 'native', to: coin[1]!, units: BigInt(coin[2]!) };
  throw new Error(`no transfer on the local chain: ${uri}`);
};

/** Pays as a wallet that scanned the URI, or another part of its amount. */
export const payByUri = (call: RpcCall, uri: string, percent = 100n): Promise<Receipt> => {
  const { asset, to, units } = transferOf(uri);
  return pay(call, asset, to, (units * percent) / 100n);
};
