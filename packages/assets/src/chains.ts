/** The facts about a chain in its CAIP-2 chain id. */
export type Chain =
  | { readonly kind: 'bitcoin'; readonly chain: BitcoinChain; readonly nativeCoin: 'BTC' }
  | {
      readonly kind: 'evm';
      /** Symbol of the coin that pays the gas; absent for a chain that this version does not know. */
      readonly nativeCoin?: string;
    };

/** Decides the form of addresses and of account keys. Testnets and signet share theirs. */
export type BitcoinChain = 'main' | 'test' | 'regtest';

// The first 32 hex digits of the hash of the genesis block. Source: CAIP-4, chainparams.cpp of Bitcoin Core.
const BITCOIN_CHAINS: Record<string, BitcoinChain> = {
  '000000000019d6689c085ae165831e93': 'main',
  '000000000933ea01ad0ee984209779ba': 'test', // testnet3
  '00000000da84f2bafbbc53dee25a72ae': 'test', // testnet4
  '00000008819873e925422c1ff0f99f7c': 'test', // signet
  '0f9188f13cb7b2c71f2a335e3a4fc328': 'regtest',
};

// Source: ethereum-lists/chains. Not every EVM chain has ETH.
const EVM_NATIVE_COINS: Record<string, readonly string[]> = {
  ETH: [
    ...['1', '11155111', '17000', '560048'], // Ethereum, Sepolia, Holesky, Hoodi
    ...['10', '11155420', '8453', '84532', '42161', '421614'], // Optimism, Base, Arbitrum One, and their testnets
    ...['324', '59144', '534352', '81457', '130', '480'], // zkSync Era, Linea, Scroll, Blast, Unichain, World Chain
    ...['1337', '31337'], // local nodes: geth --dev, anvil, hardhat
  ],
  BNB: ['56', '97', '204'],
  POL: ['137', '80002'],
  AVAX: ['43114', '43113'],
  XDAI: ['100', '10200'],
  CELO: ['42220', '44787'],
  S: ['146'],
  FTM: ['250'],
  MNT: ['5000'],
  ETC: ['61'],
  CRO: ['25'],
  GLMR: ['1284'],
  KAIA: ['8217'],
  BTC: ['30'], // Rootstock
  HYPE: ['999'],
};

const NATIVE_COIN_OF = new Map(
  Object.entries(EVM_NATIVE_COINS).flatMap(([coin, chains]) => chains.map((id) => [id, coin] as const)),
);

/** Null for a chain that cannot take deposits: not an EVM chain, and not a Bitcoin chain by its genesis block. */
export const chainOf = (chainId: string): Chain | null => {
  const evm = /^eip155:([1-9]\d{0,15})$/.exec(chainId)?.[1];
  if (evm) {
    const nativeCoin = NATIVE_COIN_OF.get(evm);
    return { kind: 'evm', ...(nativeCoin && { nativeCoin }) };
  }
  const chain = BITCOIN_CHAINS[/^bip122:([0-9a-f]{32})$/.exec(chainId)?.[1] ?? ''];
  return chain ? { kind: 'bitcoin', chain, nativeCoin: 'BTC' } : null;
};
